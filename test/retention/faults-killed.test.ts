import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { Random } from '../../scripts/random.js';
import type { TraceRead } from '../../src/engine/traces/model/list/fields.js';
import { openMetadataStore } from '../../src/compose/metadata-store.js';
import { rowsHolding, untilGone } from '../deletion/tombstone-gc.js';
import { MortalServer } from '../durability/mortal-server.js';
import { uuid } from '../harness/checked-api.js';
import { Deaths, KILLS } from '../harness/kills.js';
import { PROJECT_ID } from '../harness/program.js';
import { seedOf } from '../harness/seed.js';
import { DAY_MS, daysAgo } from './scene.js';

const DAYS = 30;
/** Old traces that come before each kill, more than go together at once, and the spans of each. */
const TRACES = 4_000;
const TRACE_LENGTH = 2;
/** Every so many of them have feedback, and stay. */
const REVIEWED = 800;
/** The first kill comes at once, as what is deleted together may be gone soon after. */
const LONGEST_MS = 250;
const SEED = seedOf('KILL_SEED');

describe(`retention when the program is killed ${KILLS} times, KILL_SEED=${SEED}`, function () {
  this.timeout(120_000 + KILLS * 60_000);
  const dice = new Random(SEED);
  /** Traces that are to go. */
  const going = new Set<string>();
  let server: MortalServer;

  before(async () => {
    server = await MortalServer.start({
      seed: SEED,
      env: { RETENTION_INTERVAL_SECONDS: '1' },
      spread: { from: Date.now() - 3 * DAY_MS, days: 2 },
    });
    await server.program.ask('POST', '/v1/tasks/task/prompt/versions/ensure', { content: 'x' });
  });
  afterEach(function () {
    if (this.currentTest?.isFailed()) console.log(server?.program.complaints());
  });
  after(() => server?.dispose());

  const traceId = (trace: number) => uuid(100_000 + trace);
  const spanId = (trace: number, at: number) => uuid(1_000_000 + trace * 10 + at);

  /** Traces that arrive late, from the given number on, in sessions that young ones are in as well. */
  async function postOld(first: number): Promise<void> {
    const numbers = Array.from({ length: TRACES }, (_, index) => first + index);
    const started_at = daysAgo(DAYS + 10);
    for (let at = 0; at < TRACES; at += 500)
      await server.write(
        numbers.slice(at, at + 500).flatMap((trace) =>
          Array.from({ length: TRACE_LENGTH }, (_, index) => ({
            id: spanId(trace, index),
            trace_id: traceId(trace),
            session_id: uuid(500_000 + (trace % 15)),
            started_at,
            ended_at: started_at,
          })),
        ),
      );
    for (const trace of numbers)
      if (trace % REVIEWED !== 0) going.add(traceId(trace));
      else await comment(spanId(trace, 1));
  }

  const comment = (span: string) =>
    server.program.ask('POST', `/v1/prompts/task/completions/${span}/feedback`, { thumbs_up: true });
  const keep = (days: number) => server.program.ask('PATCH', '', { retention_days: days });

  /** As another process does, while no server runs: so that the next one completes what was begun and begins nothing. */
  function keepForEver(): void {
    const metadata = openMetadataStore(server.dataDir);
    metadata.identities.changeProject(PROJECT_ID, { retention_days: null });
    metadata.close();
  }

  const underWay = () => rowsHolding(server.dataDir, ['retention/']).length > 0;
  const due = async () => (await server.program.ask('GET', 'retention')).going.traces as number;

  /** Resolves when a portion is being deleted, or nothing is left. */
  async function untilBegun(): Promise<void> {
    for (let looks = 1; !underWay(); looks += 1) {
      if (looks % 200 === 0 && (await due()) === 0) return;
      await sleep(2);
    }
  }

  /** Ids of all traces that are listed. */
  async function listed(): Promise<Set<string>> {
    const ids = new Set<string>();
    for (let offset = 0; ; offset += 500) {
      const page = (await server.program.ask('GET', `/traces?limit=500&offset=${offset}`)) as TraceRead[];
      for (const { id } of page) ids.add(id);
      if (page.length < 500) return ids;
    }
  }

  it('goes on with the next start, and every figure is right in between and at the end, while others write', async () => {
    const deaths = new Deaths('retention');
    for (let kill = 1; kill <= KILLS; kill += 1) {
      await postOld(kill * TRACES);
      await keep(DAYS);
      await untilBegun();
      await sleep(kill === 1 ? 0 : dice.whole(0, LONGEST_MS));
      await server.kill();
      deaths.add(underWay());
      if (kill < KILLS) keepForEver();
      await server.restart();
      if (kill === KILLS) break;
      await untilGone(server.dataDir, ['retention/']);
      await server.quiet();
      const there = await listed();
      server.crowd.ledger.forget(new Set([...going].filter((id) => !there.has(id))));
      await server.expectExact();
      server.busy();
    }
    while ((await due()) > 0) await sleep(100);
    await untilGone(server.dataDir, ['retention/']);
    server.crowd.ledger.forget(going);
    await server.expectExact();
    const { items } = await server.program.ask('GET', `feedback/trace/${traceId(TRACES)}`);
    expect(items).to.have.length(1);
    deaths.report(`; ${going.size} traces went, ${server.spans} spans stayed, none lost`);
  });
});
