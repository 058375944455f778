import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { Random } from '../../scripts/random.js';
import { freshDataDir, removeDirectory } from '../harness/fresh-directory.js';
import { Program, unhurried } from '../harness/program.js';
import { seedOf } from '../harness/seed.js';
import { audit } from './recount.js';
import { Crowd } from './traffic.js';

const SEED = seedOf('KILL_SEED');
const CLIENTS = 8;
const READY_WITHIN_MS = 5_000;

/** Kills the server and its engine by turns while clients write. `KILL_ROUNDS=100 npm test -- test/durability/killed.test.ts` */
export function killedUnderLoad(rounds: number): void {
  const count = Number(process.env['KILL_ROUNDS'] ?? rounds);
  describe(`kill -9 under load, ${count} rounds, KILL_SEED=${SEED}`, () => play(count));
}

function play(rounds: number): void {
  let dataDir: string;
  let program: Program;
  const crowd = new Crowd(CLIENTS, SEED);
  const dice = new Random(SEED);
  const readyMs = { server: [] as number[], engine: [] as number[] };

  before(async () => {
    dataDir = await freshDataDir('spanhouse-kill-');
    program = await Program.start(dataDir);
  });

  afterEach(function () {
    if (this.currentTest?.isFailed()) console.log(program.complaints());
  });

  after(async () => {
    await program.destroy();
    await removeDirectory(dataDir);
    const { acknowledged, refused, broken, slowestMs } = crowd.tally;
    const longest = (times: readonly number[]) => Math.round(Math.max(0, ...times));
    console.log(
      `      ${acknowledged} requests acknowledged, ${refused} refused, ${broken} broken; the slowest took ${Math.round(slowestMs)} ms; ` +
        `ready after at most ${longest(readyMs.server)} ms (server), ${longest(readyMs.engine)} ms (engine)`,
    );
  });

  for (let round = 1; round <= rounds; round += 1) {
    const victim = round % 2 === 1 ? 'server' : 'engine';
    it(`round ${round}: after the death of the ${victim}, every acknowledged span is there once and every figure is exact`, async () => {
      const stop = crowd.start(program);
      try {
        await sleep(dice.whole(200, 900));
        const took = victim === 'server' ? await killServer() : await killEngine();
        readyMs[victim].push(took);
        expect(took, 'ms until ready').to.be.below(unhurried(READY_WITHIN_MS));
      } finally {
        await stop();
      }
      expect(await audit(program, crowd.ledger)).to.deep.equal([]);
      expect(crowd.tally.wrong.splice(0)).to.deep.equal([]);
    });
  }

  async function killServer(): Promise<number> {
    program.signal('SIGKILL');
    await program.ended;
    // The next start must not have to wait for anything, so it comes at once.
    program = Program.spawn(dataDir);
    await program.ready();
    return performance.now() - program.spawnedAt;
  }

  /** The clients go on: meanwhile their writes are taken, and afterwards they are read. */
  async function killEngine(): Promise<number> {
    const { enginePid } = program;
    const { refusedWrites } = crowd.tally;
    const killedAt = performance.now();
    process.kill(enginePid, 'SIGKILL');
    await program.readyAfter(enginePid);
    const took = performance.now() - killedAt;
    await crowd.served();
    expect(crowd.tally.refusedWrites, 'writes refused meanwhile').to.equal(refusedWrites);
    return took;
  }
}
