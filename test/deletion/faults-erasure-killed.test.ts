import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { Random } from '../../scripts/random.js';
import { MortalServer } from '../durability/mortal-server.js';
import { Deaths, KILLS } from '../harness/kills.js';
import { seedOf } from '../harness/seed.js';
import { openStoreAt } from '../harness/trace-store.js';
import { until } from '../harness/until.js';
import { textsInFiles } from './files.js';
import { oldPartsRemoved, removeOldPartsAtOnce } from './old-parts.js';

const SEED = seedOf('KILL_SEED');
const HASTY_TIMERS = fileURLToPath(new URL('hasty-timers.js', import.meta.url));
const SECRETS = /secret-[0-9a-f-]{36}/g;
/** Spans of a session that goes. */
const SPANS = 200;
/** The first kill comes within this time, each later one may come as much later. */
const STEP_MS = 500;
/** What is deleted is erased when erasing has ended so often: it was under way when that was deleted, and did not see it. */
const ENDS = 2;

describe(`erasure when the program is killed ${KILLS} times, KILL_SEED=${SEED}`, function () {
  this.timeout(360_000 + KILLS * 30_000);
  const dice = new Random(SEED);
  const deaths = new Deaths('erasure');
  /** Texts that were deleted. */
  const gone: string[] = [];
  let server: MortalServer;

  before(async () => {
    server = await MortalServer.start({
      seed: SEED,
      env: { ERASE_WITHIN_HOURS: '1', NODE_OPTIONS: `--import ${HASTY_TIMERS}` },
    });
  });
  afterEach(function () {
    if (this.currentTest?.isFailed()) console.log(server?.program.complaints());
  });
  after(() => server?.dispose());

  /** Writes spans of a session, with a text of their own wherever one may stand, and deletes them. */
  async function deleteSome(): Promise<void> {
    const session = randomUUID();
    const secret = () => `secret-${randomUUID()}`;
    const spans = Array.from({ length: SPANS }, () => ({
      id: randomUUID(),
      trace_id: randomUUID(),
      session_id: session,
      session_name: secret(),
      name: secret(),
      started_at: '2026-01-15T10:00:00Z',
      input_data: secret(),
      tags: { t: secret() },
    }));
    gone.push(...(JSON.stringify(spans).match(SECRETS) ?? []));
    await server.program.ask('POST', '/spans', spans);
    await server.program.ask('DELETE', `/sessions/${session}`);
  }

  /** How many partitions were rewritten, each time that erasing came to its end in this life of the server. */
  const ends = () =>
    server.program.log
      .map((line) => JSON.parse(line) as { event?: string; partitions?: number })
      .filter(({ event }) => event === 'erasureFinished')
      .map(({ partitions }) => partitions);

  /** Those of the texts that some file still holds. */
  function inFiles(): string[] {
    const found = textsInFiles(server.dataDir, SECRETS);
    return gone.filter((text) => found.has(text)).map((text) => `${text} in ${found.get(text) ?? ''}`);
  }

  /** Removes what ClickHouse keeps for some minutes. */
  async function removeOldParts(): Promise<void> {
    const { client, close } = await openStoreAt(join(server.dataDir, 'clickhouse'));
    try {
      await removeOldPartsAtOnce(client);
      await oldPartsRemoved(client, () => inFiles().length === 0);
    } finally {
      await close();
    }
  }

  it('goes on with the next start: in the end no file holds what was deleted, and nothing else is lost', async () => {
    for (let kill = 1; kill <= KILLS; kill += 1) {
      await deleteSome();
      const count = ends().length;
      await sleep(dice.whole(0, kill * STEP_MS));
      await server.kill();
      deaths.add(ends().length < count + ENDS);
      await server.restart();
    }
    await server.quiet();
    const count = ends().length;
    await until('nothing is left to erase', () =>
      ends()
        .slice(count + 1)
        .includes(0),
    );
    expect(server.program.complaints()).to.equal('');
    await server.expectExact();
    server.program.signal('SIGTERM');
    await server.program.ended;
    await removeOldParts();
    expect(inFiles()).to.deep.equal([]);
    deaths.report(`; ${gone.length} texts gone, ${server.spans} spans kept, none lost`);
  });
});
