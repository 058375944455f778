import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { uuid } from '../harness/checked-api.js';
import { rowsHolding } from './tombstone-gc.js';
import { freshDataDir, removeDirectory } from '../harness/fresh-directory.js';
import { Deaths, KILLS } from '../harness/kills.js';
import { Program } from '../harness/program.js';
import { seedOf } from '../harness/seed.js';
import { until } from '../harness/until.js';

const SPANS = 1_000;
const TRACE_LENGTH = 20;
const SPANS_PER_RECORD = 20;
/** So many at most, until one deletion was cut off. */
const MAX_ROUNDS = KILLS + 7;
const SEED = seedOf('KILL_SEED');

describe(`deletions when the program is killed ${KILLS} times, KILL_SEED=${SEED}`, function () {
  this.timeout(120_000 + KILLS * 20_000);
  let dataDir: string;
  let program: Program;

  before(async () => {
    dataDir = await freshDataDir('spanhouse-deletions-');
    program = await Program.start(dataDir);
    await program.ask('POST', '/v1/tasks/task/prompt/versions/ensure', { content: 'x' });
  });
  afterEach(function () {
    if (this.currentTest?.isFailed()) console.log(program.complaints());
  });
  after(async () => {
    await program.destroy();
    await removeDirectory(dataDir);
  });

  /** A session with feedback on some spans, and its word in every text. */
  async function fill(session: string, from: number): Promise<void> {
    const spans = Array.from({ length: SPANS }, (_, index) => ({
      id: uuid(from + index),
      trace_id: uuid(from + 500_000 + Math.floor(index / TRACE_LENGTH)),
      session_id: session,
      name: 'step',
      started_at: '2026-01-15T10:00:00Z',
      input_data: `word${session.slice(-6)}`,
    }));
    for (let at = 0; at < SPANS; at += 500) await program.ask('POST', '/spans', spans.slice(at, at + 500));
    for (let at = 0; at < SPANS; at += SPANS_PER_RECORD) {
      const path = `/v1/prompts/task/completions/${uuid(from + at)}/feedback`;
      await program.ask('POST', path, { thumbs_up: true, reason: `word${session.slice(-6)}` });
    }
  }

  const left = async (session: string) => {
    const word = `word${session.slice(-6)}`;
    return {
      spans: (await program.ask('GET', `/spans?q=${word}&fields=id&limit=10000`)).length as number,
      sessions: (await program.ask('GET', `/sessions?id=${session}`)).length as number,
      records: rowsHolding(dataDir, [word]).length,
    };
  };

  it('are completed by the next start, or were never begun', async () => {
    await fill(uuid(2_999_999), 9_000_000);
    const started = performance.now();
    await program.request('DELETE', `/sessions/${uuid(2_999_999)}`);
    const wholeMs = performance.now() - started;
    const deaths = new Deaths('deletions');
    for (let round = 0; round < KILLS || (deaths.inTheMiddle === 0 && round < MAX_ROUNDS); round += 1) {
      const [session, other] = [uuid(3_000_000 + 2 * round), uuid(3_000_001 + 2 * round)];
      await fill(session, 4_000_000 + round * 10_000);
      await fill(other, 6_000_000 + round * 10_000);
      const deletion = program.request('DELETE', `/sessions/${session}`);
      await sleep(wholeMs * (0.1 + ((SEED + round * 137) % 400) / 500));
      await program.destroy();
      const { status } = await deletion;
      deaths.add(status === 0);
      program = await Program.start(dataDir);
      const found = await left(session);
      const gone = { spans: 0, sessions: 0, records: 0 };
      const whole = { spans: SPANS, sessions: 1, records: SPANS / SPANS_PER_RECORD };
      // Killed before it was written down, the deletion was never begun.
      const expected = status === 0 && found.spans > 0 ? whole : gone;
      expect(found, `round ${round}`).to.deep.equal(expected);
      expect(await left(other), `round ${round}, the other session`).to.deep.equal(whole);
      // What nobody is shown any more may wait for ClickHouse.
      const noted = () => rowsHolding(dataDir, [session]).filter((row) => row.startsWith('deletion'));
      await until('the deletion is over', () => noted().length === 0);
    }
    deaths.report();
  });
});
