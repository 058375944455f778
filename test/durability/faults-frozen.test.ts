import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { Random } from '../../scripts/random.js';
import type { Program } from '../harness/program.js';
import { Programs } from '../harness/programs.js';
import { seedOf } from '../harness/seed.js';
import { audit } from './recount.js';
import { Crowd } from './traffic.js';

const SEED = seedOf('FAULT_SEED');
/** After that, one that stood still for too long is on its way out. */
const REPLACED_WITHIN_MS = 2_000;

// An engine that is never continued stands in overload.test.ts.
describe(`processes that stand still under load and go on, FAULT_SEED=${SEED}`, function () {
  this.timeout(120_000);
  let programs: Programs;
  let program: Program;
  let crowd: Crowd;
  let stop: () => Promise<void>;

  beforeEach(async () => {
    programs = await Programs.make();
    program = await programs.start();
    crowd = new Crowd(8, SEED);
    stop = crowd.start(program);
    await crowd.served();
  });
  afterEach(async () => {
    program.signal('SIGCONT');
    await stop();
    await programs.dispose();
  });

  async function expectAllExact(): Promise<void> {
    await program.ready();
    await crowd.served();
    await stop();
    expect(crowd.tally.wrong).to.deep.equal([]);
    expect(await audit(program, crowd.ledger)).to.deep.equal([]);
  }

  /** @returns for how long they stood still: a busy machine may let them wait for longer than that */
  async function still(pids: readonly number[], ms: number): Promise<number> {
    for (const pid of pids) process.kill(pid, 'SIGSTOP');
    const from = performance.now();
    await sleep(ms);
    const stood = performance.now() - from;
    for (const pid of pids)
      try {
        process.kill(pid, 'SIGCONT');
      } catch {
        // It has been replaced meanwhile.
      }
    return stood;
  }

  it('the engine for less than a second: the same engine goes on, and nobody is refused', async () => {
    const now = () => ({ pid: program.enginePid, refused: crowd.tally.refused, broken: crowd.tally.broken });
    let before = now();
    for (let times = 0; times < 4; times += 1) {
      const stood = await still([before.pid], 700);
      if (stood >= 1_000) {
        // It may be replaced, which is tried below.
        await sleep(REPLACED_WITHIN_MS);
        await program.ready();
        times = -1;
      }
      await crowd.served();
      if (times < 0) before = now();
    }
    await expectAllExact();
    expect(now()).to.deep.equal(before);
  });

  it('the engine for about as long as it takes to be replaced: it goes on or another does', async () => {
    const dice = new Random(SEED);
    for (let time = 0; time < 5; time += 1) {
      await still([program.enginePid], dice.whole(1_300, 2_000));
      await program.ready();
      await crowd.served();
    }
    await expectAllExact();
  });

  it('the server for 5 s: it goes on with the same engine', async () => {
    const { enginePid } = program;
    await still([program.pid], 5_000);
    await expectAllExact();
    expect(program.enginePid).to.equal(enginePid);
  });

  it('both for 5 s, as when the machine sleeps: they go on, and the pause is not taken for the engine’s', async () => {
    const { enginePid } = program;
    await still([program.pid, enginePid], 5_000);
    await expectAllExact();
    expect(program.enginePid).to.equal(enginePid);
    expect(crowd.tally.broken).to.equal(0);
  });
});
