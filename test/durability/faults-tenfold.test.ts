import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { projectMaker } from '../harness/projects.js';
import { MemoryWatch } from '../harness/memory.js';
import { type Program, unhurried } from '../harness/program.js';
import { Programs } from '../harness/programs.js';
import { audit } from './recount.js';
import { Crowd } from './traffic.js';

/** OVERLOAD_SECONDS=60 npm test -- test/durability/faults-tenfold.test.ts for a whole minute of it. */
const SECONDS = Number(process.env['OVERLOAD_SECONDS'] ?? 20);
/** Writing, updating and reading small things: each as soon as it has its answer. */
const CLIENTS = 200;
/** Far more than the 64 MB of bodies that one key may have in work. */
const SENDERS = 50;
const LARGE_SPANS = 100;
const LARGE_TEXT = 'what the model said '.repeat(1_000);
const LARGE_TRACE = randomUUID();
/** Two megabytes, written once, so that the senders leave the machine to the server. */
const LARGE_BODY = JSON.stringify(
  Array.from({ length: LARGE_SPANS }, (_, index) => ({
    trace_id: LARGE_TRACE,
    name: `part ${index}`,
    started_at: '2026-01-01T00:00:00Z',
    cost: 0.25,
    input_data: LARGE_TEXT,
  })),
);
/** Measured: 483 to 519. */
const MAX_SERVER_MB = 544;
const WELL_WITHIN_MS = 10_000;

interface Large {
  readonly traceId: string;
  readonly status: number;
}

describe(`ten times what it can take, for ${SECONDS} s @alone`, function () {
  this.timeout(240_000 + SECONDS * 3_000);
  let programs: Programs;
  let program: Program;
  let bulkKey: string;
  const stops: (() => Promise<void>)[] = [];

  before(async () => {
    programs = await Programs.make();
    program = await programs.start();
    const projects = projectMaker(programs.dataDir);
    bulkKey = projects.make().key;
    projects.close();
  });
  afterEach(function () {
    if (this.currentTest?.isFailed()) console.log(program.complaints());
  });
  after(async () => {
    const stopped = await Promise.allSettled(stops.map((stop) => stop()));
    await programs.dispose();
    expect(stopped.filter(({ status }) => status === 'rejected')).to.deep.equal([]);
  });

  async function ask(method: string, path: string, body?: string): Promise<{ response: Response; json: any }> {
    const response = await fetch(program.url + path, {
      method,
      headers: { authorization: `Bearer ${bulkKey}`, 'content-type': 'application/json', prefer: 'return=minimal' },
      ...(body === undefined ? {} : { body }),
    });
    const text = await response.text();
    return { response, json: text === '' ? undefined : JSON.parse(text) };
  }

  /** Large requests, one behind the other. */
  async function sendLarge(stop: AbortSignal, sent: Large[]): Promise<void> {
    while (!stop.aborted) {
      const traceId = randomUUID();
      const body = LARGE_BODY.replaceAll(LARGE_TRACE, traceId);
      const { response } = await ask('POST', '/spans', body).catch(() => ({ response: null }));
      sent.push({ traceId, status: response?.status ?? 0 });
      if (response?.status === 429 || response?.status === 503)
        expect(Number(response.headers.get('retry-after'))).to.be.at.least(1);
    }
  }

  it(`refuses with 429 or 503, loses nothing acknowledged, and its memory stays below ${MAX_SERVER_MB} MB`, async () => {
    const memory = new MemoryWatch(program.pid, program.enginePid);
    const crowd = new Crowd(CLIENTS, 17);
    const over = new AbortController();
    const sent: Large[] = [];
    const bulk = Promise.all(Array.from({ length: SENDERS }, () => sendLarge(over.signal, sent)));
    const stop = crowd.start(program);
    stops.push(stop);
    await sleep(SECONDS * 1_000);
    over.abort();
    await Promise.all([bulk, stop()]);
    const [serverMb = 0, engineMb = 0] = await memory.stop();
    const counted = (wanted: number) => sent.filter(({ status }) => status === wanted).length;
    const { acknowledged, refused, broken, slowestMs } = crowd.tally;
    console.log(
      `      ${acknowledged} small requests acknowledged, ${refused} refused, ${broken} broken, the slowest ${Math.round(slowestMs)} ms; ` +
        `${counted(200)} large acknowledged, ${counted(429)} + ${counted(503)} refused; peak ${serverMb} MB, engine ${engineMb} MB`,
    );
    expect(serverMb, 'peak of the server’s memory in MB').to.be.below(MAX_SERVER_MB);
    for (const { status } of sent) expect(status).to.be.oneOf([200, 429, 503]);
    expect(counted(200), 'large, acknowledged').to.be.above(0);
    expect(counted(200), 'large, refused').to.be.below(sent.length);
    expect(broken).to.equal(0);
    expect(crowd.tally.wrong).to.deep.equal([]);

    const from = performance.now();
    await program.ready();
    expect(performance.now() - from, 'ms until well again').to.be.below(unhurried(WELL_WITHIN_MS));
    expect(await audit(program, crowd.ledger)).to.deep.equal([]);
    await expectLarge(sent);
  });

  /** What was refused is not there; what was acknowledged is there as a whole. */
  async function expectLarge(sent: readonly Large[]): Promise<void> {
    const found = new Map<string, { span_count: number; cost: number }>();
    for (;;) {
      const { json } = await ask('GET', `/traces?fields=id,span_count,cost&limit=500&offset=${found.size}`);
      for (const trace of json) found.set(trace.id, trace);
      if (json.length < 500) break;
    }
    for (const { traceId, status } of sent.filter((large) => large.status !== 503)) {
      const { span_count, cost } = found.get(traceId) ?? {};
      const expected = status === 200 ? { span_count: LARGE_SPANS, cost: LARGE_SPANS / 4 } : {};
      expect({ ...(found.has(traceId) && { span_count, cost }) }, `answered ${status}`).to.deep.equal(expected);
    }
  }
});
