import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { rowsHolding, untilGone } from '../deletion/remains.js';
import { uuid } from '../harness/checked-api.js';
import { freshDataDir, removeDirectory } from '../harness/fresh-directory.js';
import { Program } from '../harness/program.js';
import { seedOf } from '../harness/seed.js';
import { daysAgo } from './scene.js';

/** Traces of as many spans each, more than go together; those with an odd number are young. */
const TRACES = 9_000;
const TRACE_LENGTH = 2;
const KILLS = 3;
/** Every so many traces have feedback, and stay. */
const REVIEWED = 500;
const SEED = seedOf('KILL_SEED');

interface Figures {
  readonly id: string;
  readonly span_count?: number;
  readonly trace_count?: number;
  readonly cost: number;
}

describe(`retention when the program is killed, KILL_SEED=${SEED}`, function () {
  this.timeout(180_000);
  let dataDir: string;
  let program: Program;
  const env = { RETENTION_INTERVAL_SECONDS: '1' };

  before(async () => {
    dataDir = await freshDataDir('spanhouse-retention-');
    program = await Program.start(dataDir, env);
    await ask('POST', '/v1/tasks/task/prompt/versions/ensure', { content: 'x' });
  });
  afterEach(function () {
    if (this.currentTest?.isFailed()) console.log(program.complaints());
  });
  after(async () => {
    await program.destroy();
    await removeDirectory(dataDir);
  });

  async function ask(method: string, path: string, body?: unknown): Promise<any> {
    const { status, json } = await program.request(method, path, body);
    expect(status, `${method} ${path}: ${JSON.stringify(json)?.slice(0, 300)}`).to.be.within(200, 299);
    return json;
  }

  const traceId = (trace: number) => uuid(100_000 + trace);
  const sessionId = (trace: number) => uuid(500_000 + Math.floor(trace / 100));
  const isOld = (trace: number) => trace % 2 === 0;
  const isReviewed = (trace: number) => trace % REVIEWED === 0;
  const numbers = Array.from({ length: TRACES }, (_, trace) => trace);

  async function fill(): Promise<void> {
    const times = [daysAgo(40), daysAgo(3)];
    const spans = numbers.flatMap((trace) =>
      Array.from({ length: TRACE_LENGTH }, (_, at) => ({
        id: uuid(1_000_000 + trace * 10 + at),
        trace_id: traceId(trace),
        session_id: sessionId(trace),
        name: 'step',
        started_at: times[trace % 2],
        cost: 0.25,
      })),
    );
    for (let at = 0; at < spans.length; at += 1_000) await ask('POST', '/spans', spans.slice(at, at + 1_000));
    for (const trace of numbers.filter(isReviewed))
      await ask('POST', `/v1/prompts/task/completions/${uuid(1_000_001 + trace * 10)}/feedback`, { thumbs_up: true });
  }

  async function all(list: string): Promise<Figures[]> {
    const rows: Figures[] = [];
    for (;;) {
      const page = (await ask('GET', `/${list}?limit=500&offset=${rows.length}`)) as Figures[];
      rows.push(...page);
      if (page.length < 500) return rows;
    }
  }

  const underWay = () => rowsHolding(dataDir, ['retention/']).length > 0;

  /** Resolves when a portion is being deleted, or nothing is left. */
  async function untilBegun(): Promise<void> {
    while (!underWay()) {
      if ((await ask('GET', `/projects/${program.projectId}/retention`)).going.traces === 0) return;
      await sleep(5);
    }
  }

  it('goes on with the next start, and every figure is right in between and at the end', async () => {
    await fill();
    const path = `/projects/${program.projectId}`;
    await ask('PATCH', path, { retention_days: 30 });
    let cut = 0;
    for (let kill = 0; kill < KILLS; kill += 1) {
      await untilBegun();
      await sleep((SEED + kill * 137) % 400);
      await program.destroy();
      if (underWay()) cut += 1;
      program = await Program.start(dataDir, env);
      for (const { id, span_count, cost } of await all('traces'))
        expect({ id, span_count, cost }).to.deep.equal({ id, span_count: TRACE_LENGTH, cost: TRACE_LENGTH * 0.25 });
    }
    expect(cut, 'kills in the middle').to.be.greaterThan(0);
    while ((await ask('GET', `${path}/retention`)).going.traces > 0) await sleep(100);
    await untilGone(dataDir, ['retention/']);

    const staying = numbers.filter((trace) => !isOld(trace) || isReviewed(trace));
    const traces = await all('traces');
    expect(traces.map(({ id }) => id)).to.have.members(staying.map(traceId));
    const counts = new Map<string, number>();
    for (const trace of staying) counts.set(sessionId(trace), (counts.get(sessionId(trace)) ?? 0) + 1);
    const sessions = (await all('sessions')).map(({ id, trace_count, cost }) => ({ id, trace_count, cost }));
    const recounted = [...counts].map(([id, count]) => ({ id, trace_count: count, cost: count * TRACE_LENGTH * 0.25 }));
    expect(sessions).to.have.deep.members(recounted);
    expect(rowsHolding(dataDir, ['retention/'])).to.deep.equal([]);
    const { items } = await ask('GET', `${path}/feedback/trace/${traceId(0)}`);
    expect(items).to.have.length(1);
  });
});
