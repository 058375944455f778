import { expect } from 'chai';
import { Random } from '../../scripts/random.js';
import { freshDataDir, removeDirectory } from '../harness/fresh-directory.js';
import { Deaths, KILLS } from '../harness/kills.js';
import { Program } from '../harness/program.js';
import { seedOf } from '../harness/seed.js';

const SEED = seedOf('KILL_SEED');
const LIFE_MS = 700;
/** So many that a version takes several transactions. */
const ROWS = 2_500;

type Rows = Map<string, number>;

describe(`versions of datasets when the program is killed ${KILLS} times, KILL_SEED=${SEED}`, function () {
  this.timeout(120_000 + KILLS * 30_000);
  const dice = new Random(SEED);
  /** The newest version as it was acknowledged, and what may be there instead. */
  let known: Rows = new Map();
  let maybe: Rows | null = null;
  let number = 0;
  let dataDir: string;
  let program: Program;

  before(async () => {
    dataDir = await freshDataDir('spanhouse-datasets-');
    program = await Program.start(dataDir);
    await program.request('POST', '/v1/datasets', { name: 'set' });
  });
  after(async () => {
    await program?.destroy();
    await removeDirectory(dataDir);
  });

  async function write(): Promise<void> {
    const merges = dice.chance(0.5);
    const changed: Rows = new Map(
      Array.from({ length: ROWS }, () => [`row ${dice.whole(0, 2 * ROWS)}`, dice.whole(0, 3)] as const),
    );
    const remove = [...known.keys()].filter((id) => !changed.has(id) && dice.chance(0.2));
    maybe = merges ? new Map([...known, ...changed]) : changed;
    if (merges) for (const id of remove) maybe.delete(id);
    const rows = [...changed].map(([id, value]) => ({ id, value }));
    const body = { rows, ...(merges ? { mode: 'merge', remove } : {}) };
    const { status, json } = await program.request('POST', '/v1/datasets/set/versions', body);
    if (status === 0) return;
    expect(status).to.equal(200);
    expect(json.version_number).to.equal((number += 1));
    [known, maybe] = [maybe, null];
  }

  async function life(): Promise<boolean> {
    let isAlive = true;
    const writer = (async () => {
      while (isAlive && maybe === null) await write();
    })();
    await new Promise((resolve) => setTimeout(resolve, dice.whole(50, LIFE_MS)));
    await program.destroy();
    isAlive = false;
    await writer;
    return maybe !== null;
  }

  async function rowsOf(ref: string): Promise<Rows> {
    const { rows } = (await program.ask('GET', `/v1/datasets/set/data/${ref}?limit=10000`)) as {
      rows: { id: string; value: number }[];
    };
    expect(new Set(rows.map(({ id }) => id)).size, 'each is there once').to.equal(rows.length);
    return new Map(rows.map(({ id, value }) => [id, value]));
  }

  it('are what was acknowledged, and the one that was being made is there as a whole or not at all', async () => {
    const deaths = new Deaths('datasets');
    for (let kill = 0; kill < KILLS; kill += 1) {
      deaths.add(await life());
      program = await Program.start(dataDir);
      const versions = (await program.ask('GET', '/v1/datasets/set/versions')) as {
        version_number: number;
        row_count: number;
      }[];
      expect(versions.length).to.be.within(number, number + (maybe === null ? 0 : 1));
      if (versions.length > number && maybe !== null) known = maybe;
      maybe = null;
      number = versions.length;
      if (number === 0) continue;
      expect(versions[0]).to.deep.include({ version_number: number, row_count: known.size });
      expect([...(await rowsOf('latest'))].sort()).to.deep.equal([...known].sort());
      const oldest = await rowsOf('1');
      expect(oldest.size).to.equal(versions.at(-1)?.row_count);
    }
    deaths.report();
  });
});
