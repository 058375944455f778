import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { freshDataDir, removeDirectory } from '../harness/fresh-directory.js';
import { MemoryWatch } from '../harness/memory.js';
import { Program, unhurried, type Answer } from '../harness/program.js';
import { audit } from './recount.js';
import { Crowd } from './traffic.js';

const SENDERS = 48;
const REQUESTS_EACH = 4;
const SPANS = 4;
/** Of one span: more than its share of the queue, so that few requests fill it. */
const SPAN_BYTES = 128 * 1024;
const MAX_SERVER_MB = 400;
/** A stopped engine is noticed within 2 s; what waits for it is refused then. */
const REFUSED_WITHIN_MS = 4_000;
const READY_WITHIN_MS = 5_000;

// The senders fill the machine, and how long the server takes meanwhile is measured.
describe('more than the server can take @alone', () => {
  let dataDir: string;
  let program: Program;

  const stops: (() => Promise<void>)[] = [];

  beforeEach(async () => {
    dataDir = await freshDataDir('spanhouse-overload-');
  });

  afterEach(async () => {
    for (const stop of stops.splice(0)) await stop();
    await program.destroy();
    await removeDirectory(dataDir);
  });

  it('refuses with Retry-After what its queue cannot hold, keeps what it acknowledged, and its memory stays bounded', async () => {
    program = await Program.start(dataDir, { QUEUE_MAX_MB: '1' });
    const memory = new MemoryWatch(program.pid);
    const sent = (await Promise.all(Array.from({ length: SENDERS }, () => sendMuch(program)))).flat();
    const [peakMb] = await memory.stop();

    const acknowledged = sent.filter(({ answer }) => answer.status === 200);
    const refused = sent.filter(({ answer }) => answer.status !== 200);
    expect(acknowledged, 'acknowledged').not.to.have.length(0);
    expect(refused, 'refused').not.to.have.length(0);
    for (const { answer } of refused) {
      expect(answer.status).to.be.oneOf([429, 503]);
      expect(Number(answer.retryAfter)).to.be.at.least(1);
    }
    expect(peakMb, 'peak of the server’s memory in MB').to.be.below(MAX_SERVER_MB);

    for (const { traceId, answer } of sent) {
      const { json } = await program.request('GET', `/spans?trace_id=${traceId}&fields=id`);
      // What was refused here was refused before it reached the store: nothing of it may be there.
      expect(json, `spans of a request answered ${answer.status}`).to.have.length(answer.status === 200 ? SPANS : 0);
    }
    console.log(`      ${acknowledged.length} acknowledged, ${refused.length} refused, peak ${peakMb} MB`);
  });

  it('a stopped engine: reads are refused with 503, writes are taken, the engine is replaced, nothing acknowledged is lost', async () => {
    program = await Program.start(dataDir);
    const crowd = new Crowd(8, 3);
    const stop = crowd.start(program);
    stops.push(stop);
    await sleep(500);
    const { enginePid } = program;
    const { refused } = crowd.tally;
    crowd.tally.slowestMs = 0;
    process.kill(enginePid, 'SIGSTOP');
    const from = performance.now();
    const said = await readinessUntil(program, program.readyAfter(enginePid));
    expect([...said].sort()).to.deep.equal(['200 degraded', '200 ready']);
    expect(performance.now() - from, 'ms until ready again').to.be.below(unhurried(READY_WITHIN_MS));
    expect(crowd.tally.slowestMs, 'ms of the slowest request').to.be.below(unhurried(REFUSED_WITHIN_MS));
    expect(crowd.tally.refused, 'requests refused meanwhile').to.be.above(refused);

    await crowd.served();
    await stop();
    expect(crowd.tally.wrong).to.deep.equal([]);
    expect(await audit(program, crowd.ledger)).to.deep.equal([]);
  });
});

/** What `/readyz` answers until something is done. */
async function readinessUntil(program: Program, done: Promise<void>): Promise<ReadonlySet<string>> {
  const said = new Set<string>();
  let waiting = true;
  const ended = done.finally(() => (waiting = false));
  while (waiting) {
    const { status, json } = await program.request('GET', '/readyz');
    said.add(`${status} ${json.status}`);
  }
  await ended;
  return said;
}

interface Sent {
  readonly traceId: string;
  readonly answer: Answer;
}

async function sendMuch(program: Program): Promise<Sent[]> {
  const sent: Sent[] = [];
  for (let count = 0; count < REQUESTS_EACH; count += 1) {
    const traceId = randomUUID();
    const spans = Array.from({ length: SPANS }, (_, index) => ({
      trace_id: traceId,
      name: `part ${index}`,
      started_at: '2026-01-01T00:00:00Z',
      input_data: randomUUID().repeat(SPAN_BYTES / 36),
    }));
    sent.push({ traceId, answer: await program.request('POST', '/spans', spans) });
  }
  return sent;
}
