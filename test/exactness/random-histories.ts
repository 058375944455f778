import { readdirSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import fc from 'fast-check';
import { seedOf } from '../harness/seed.js';
import { bootServer, type TestServer } from '../harness/server.js';
import { history } from './histories.js';
import { Player } from './player.js';
import { DATABASE_FILE, openDatabase, type Database } from '../../src/engine/metadata/database.js';
import { SqliteExperimentStore } from '../../src/features/experiments/store/experiment-store.js';
import { projectMaker, type ProjectMaker } from '../harness/projects.js';
import type { Step } from './sent.js';

/*
 * HISTORIES=2000 npm test -- test/exactness     more of them
 * SEED=123 npm test -- test/exactness           those of an earlier run; SEED=random: others
 * KILLS=100 npm test -- test/exactness          more deaths of the engine
 */
const SEED = seedOf('SEED');
/** Histories under way at once, each in its own project: they share commits and rollup rounds, as clients do. */
const AT_ONCE = 100;
/** With hundreds of readers, one may wait longer than servers usually let it. */
const limits = { readWaitMs: 120_000 };
/** How long a failing history is made smaller. */
const SHRINK_MS = 90_000;

/** As a client would create it: whatever the dataset, its results are what spans say. */
const EXPERIMENT = {
  ...{ name: 'tried', description: '', dataset: { id: 'gone', name: 'gone' }, dataset_version: 1, rows: 3 },
  ...{ repetitions: 2, subject: {}, parameters: {}, created_at: 1 },
};

/** How many histories are played, how many of them with a restart and with deaths of the engine, and how many deaths. */
interface Played {
  readonly histories: number;
  readonly interrupted: number;
  readonly kills: number;
}

/** Random histories, whose figures have to be those of a recount. */
export function randomHistories(played: Played): void {
  const histories = Number(process.env['HISTORIES'] ?? played.histories);
  const kills = Number(process.env['KILLS'] ?? played.kills);
  describe('Random histories', function () {
    this.timeout(120_000 + histories * 2_000 + kills * 5_000);
    play({ ...played, histories, kills });
  });
}

function play({ histories, interrupted, kills }: Played): void {
  let server: TestServer;
  let projects: ProjectMaker;
  let database: Database;
  let experiments: SqliteExperimentStore;

  before(async () => {
    console.log(`      ${histories} histories, SEED=${SEED}`);
    server = await bootServer({ limits });
    projects = projectMaker(server.dataDir);
    database = openDatabase(join(server.dataDir, DATABASE_FILE));
    experiments = new SqliteExperimentStore(database);
  });
  after(async () => {
    projects.close();
    database.close();
    await server.dispose();
  });

  function player(retrying = false): Player {
    const { projectId, key, userId } = projects.make();
    const experiment = () => experiments.create(projectId, { ...EXPERIMENT, created_by: userId }).id;
    return new Player({ url: () => server.url, projectId, key, retrying, experiments: [experiment(), experiment()] });
  }

  it(`${histories} of them: every field of every list equals a recount from the last writes`, async () => {
    let failing: { readonly run: number; readonly until: number } | null = null;
    const played = (run: number) =>
      fc.asyncProperty(history, async (steps) => {
        // One failure is shrunk at a time, and the others need not go on.
        if (failing !== null && (failing.run !== run || Date.now() > failing.until)) return;
        const one = player();
        try {
          await one.play(steps);
          await one.compareAll({ thoroughly: false });
        } catch (error) {
          failing ??= { run, until: Date.now() + SHRINK_MS };
          if (failing.run === run) throw error;
        }
      });
    const runs = Array.from({ length: Math.min(AT_ONCE, histories) }, (_, index) =>
      fc.assert(played(index), { seed: SEED + index, numRuns: Math.ceil((histories - index) / AT_ONCE) }),
    );
    const failed = (await Promise.allSettled(runs)).find((run) => run.status === 'rejected');
    if (failed) throw failed.reason;
  });

  it(`${interrupted} of them with a restart in the middle`, async () => {
    const halves = sample(interrupted).map((steps) => ({
      one: player(),
      first: steps.slice(0, steps.length / 2),
      second: steps.slice(steps.length / 2),
    }));
    await Promise.all(halves.map(({ one, first }) => one.play(first)));
    await restart();
    await Promise.all(halves.map(({ one }) => one.compareAll({ thoroughly: true })));
    await Promise.all(halves.map(({ one, second }) => one.play(second)));
    await restart();
    await Promise.all(halves.map(({ one }) => one.compareAll({ thoroughly: true })));
  });

  it(`${interrupted} of them while the engine process is killed ${kills} times, with clients that send again`, async () => {
    const players = sample(interrupted).map((steps) => ({ one: player(true), steps }));
    let playing = true;
    const played = Promise.all(
      players.map(async ({ one, steps }) => {
        // Again and again until the last kill: the same writes once more, and at last the same figures.
        do await one.play(steps);
        while (playing);
        await one.compareAll({ thoroughly: true });
      }),
    );
    const killed = killEngines().finally(() => (playing = false));
    await Promise.all([played, killed]);
  });

  async function killEngines(): Promise<void> {
    const wait = fc.sample(fc.integer({ min: 50, max: 1500 }), { seed: SEED, numRuns: kills });
    for (const ms of wait) {
      await new Promise((resolve) => setTimeout(resolve, ms));
      const pid = await engineOf(server);
      process.kill(pid, 'SIGKILL');
    }
  }

  async function restart(): Promise<void> {
    await server.stop();
    server = await bootServer({ dataDir: server.dataDir, limits });
  }

  function sample(count: number): Step[][] {
    return fc.sample(history, { seed: SEED, numRuns: count });
  }
}

/** The engine process: the one child of ours that works in the server's own directory. */
async function engineOf(server: TestServer): Promise<number> {
  const directory = join(server.dataDir, 'clickhouse');
  const deadline = Date.now() + 60_000;
  while (Date.now() < deadline) {
    const pid = readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .find((name) => workingDirectory(name) === directory);
    if (pid !== undefined) return Number(pid);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return expect.fail('there is no engine process');
}

function workingDirectory(pid: string): string | null {
  try {
    return readlinkSync(`/proc/${pid}/cwd`);
  } catch {
    return null;
  }
}
