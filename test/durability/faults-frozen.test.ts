import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { Random } from '../../scripts/random.js';
import type { Program } from '../harness/program.js';
import { Programs } from '../harness/programs.js';
import { seedOf } from '../harness/seed.js';
import { audit } from './recount.js';
import { Crowd } from './traffic.js';

const SEED = seedOf('FAULT_SEED');

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

  async function still(pids: readonly number[], ms: number): Promise<void> {
    for (const pid of pids) process.kill(pid, 'SIGSTOP');
    await sleep(ms);
    for (const pid of pids)
      try {
        process.kill(pid, 'SIGCONT');
      } catch {
        // It has been replaced meanwhile.
      }
  }

  it('the engine for less than a second: the same engine goes on, and nobody is refused', async () => {
    const { enginePid } = program;
    const { refused, broken } = crowd.tally;
    for (let time = 0; time < 4; time += 1) {
      await still([enginePid], 700);
      await crowd.served();
    }
    await expectAllExact();
    expect(program.enginePid).to.equal(enginePid);
    expect(crowd.tally).to.include({ refused, broken });
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
