import { expect } from 'chai';
import { Random } from '../../scripts/random.js';
import { freshDataDir, removeDirectory } from '../harness/fresh-directory.js';
import { Deaths, KILLS } from '../harness/kills.js';
import { Program } from '../harness/program.js';
import { seedOf } from '../harness/seed.js';
import { score } from './score-api.js';

const SEED = seedOf('KILL_SEED');
const WRITERS = 4;
/** Scores of each writer, written and deleted again and again. */
const SCORES = 5;
const LIFE_MS = 700;

/** A score as its only writer knows it: undefined where it was deleted, or was never there. */
interface Known {
  readonly entity: string;
  id: string | null;
  value: number | undefined;
  /** What may be there instead: nobody answered. */
  maybe: { readonly value: number | undefined } | null;
}

describe(`scores when the program is killed ${KILLS} times, KILL_SEED=${SEED}`, function () {
  this.timeout(120_000 + KILLS * 30_000);
  const dice = new Random(SEED);
  const known: Known[] = Array.from({ length: WRITERS * SCORES }, () => ({
    ...{ entity: dice.uuid(), id: null, value: undefined, maybe: null },
  }));
  let dataDir: string;
  let program: Program;

  before(async () => {
    dataDir = await freshDataDir('spanhouse-scores-');
    program = await Program.start(dataDir);
  });
  after(async () => {
    await program?.destroy();
    await removeDirectory(dataDir);
  });

  async function write(one: Known): Promise<void> {
    const value = dice.chance(0.3) && one.id !== null ? undefined : dice.whole(0, 1000);
    one.maybe = { value };
    const body = score({ entity_id: one.entity, name: 'level', value });
    const { status, json } =
      value === undefined
        ? await program.request('DELETE', `/scores/${one.id ?? ''}`)
        : await program.request('POST', '/scores', body);
    if (status === 0) return;
    expect([200, 204, 404]).to.include(status);
    if (status === 200) one.id = json[0].id;
    one.value = value;
    one.maybe = null;
  }

  /** Writes until the program dies. @returns whether something was under way then */
  async function life(): Promise<boolean> {
    let isAlive = true;
    const writers = Array.from({ length: WRITERS }, async (_, writer) => {
      const own = known.slice(writer * SCORES, (writer + 1) * SCORES);
      while (isAlive && own.every(({ maybe }) => maybe === null)) await write(dice.pick(own));
    });
    await new Promise((resolve) => setTimeout(resolve, dice.whole(50, LIFE_MS)));
    await program.destroy();
    isAlive = false;
    await Promise.all(writers);
    return known.some(({ maybe }) => maybe !== null);
  }

  it('are what was acknowledged, and of what was under way either the one or the other', async () => {
    const deaths = new Deaths('scores');
    for (let kill = 0; kill < KILLS; kill += 1) {
      deaths.add(await life());
      program = await Program.start(dataDir);
      const rows = (await program.ask('GET', '/scores?limit=1000')) as { entity_id: string; value: number }[];
      const stored = new Map(rows.map(({ entity_id, value }) => [entity_id, value]));
      expect(stored.size, 'each is there once').to.equal(rows.length);
      for (const one of known) {
        const value = stored.get(one.entity);
        expect([one.value, ...(one.maybe === null ? [] : [one.maybe.value])]).to.include(value);
        Object.assign(one, { value, maybe: null });
      }
    }
    deaths.report();
  });
});
