import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { Random } from '../../scripts/random.js';
import { freshDataDir, removeDirectory } from '../harness/fresh-directory.js';
import { Deaths, KILLS } from '../harness/kills.js';
import { Program, unhurried } from '../harness/program.js';
import { seedOf } from '../harness/seed.js';
import { audit } from './recount.js';
import { Crowd } from './traffic.js';

const SEED = seedOf('KILL_SEED');
const CLIENTS = 8;

/** Kills the server where the log is in the middle of something, and looks whether everything acknowledged is there, once. */
describe(`kill -9 of a server with a write-ahead log, KILLS=${KILLS}, KILL_SEED=${SEED}`, function () {
  this.timeout(60_000 + KILLS * 30_000);
  const dice = new Random(SEED);
  let dataDir: string;
  let program: Program;
  let crowd: Crowd;

  beforeEach(async () => {
    dataDir = await freshDataDir('spanhouse-log-kill-');
    program = await Program.start(dataDir);
    crowd = new Crowd(CLIENTS, dice.whole(1, 1e9));
  });
  afterEach(async () => {
    await program.destroy();
    await removeDirectory(dataDir);
  });

  const segments = () => readdirSync(join(dataDir, 'log')).filter((name) => name.endsWith('.log'));
  const logBytes = () => segments().reduce((sum, name) => sum + sizeOf(join(dataDir, 'log', name)), 0);

  async function kill(): Promise<void> {
    program.signal('SIGKILL');
    await program.ended;
  }

  async function expectExact(): Promise<void> {
    expect(await audit(program, crowd.ledger)).to.deep.equal([]);
    expect(crowd.tally.wrong.splice(0)).to.deep.equal([]);
  }

  it('while it writes to the log, and while it flushes', async () => {
    const deaths = new Deaths('log writes and flushes');
    for (let round = 0; round < KILLS; round += 1) {
      const stop = crowd.start(program);
      await sleep(dice.whole(300, 1_500));
      await kill();
      await stop();
      deaths.add(logBytes() > 0);
      program = await Program.start(dataDir);
      await expectExact();
    }
    deaths.report();
  });

  it('while it stores what the log held, again and again', async () => {
    const deaths = new Deaths('replay');
    for (let round = 0; round < KILLS; round += 1) {
      // Nothing is flushed from here on, so that the log has some thousand records.
      const stop = crowd.start(program);
      await crowd.served();
      const { enginePid } = program;
      process.kill(enginePid, 'SIGSTOP');
      await sleep(1_000);
      await kill();
      // It would hold its folder as long as it stands still.
      process.kill(enginePid, 'SIGKILL');
      await stop();
      for (let again = 0; again < 3; again += 1) {
        const left = logBytes();
        program = Program.spawn(dataDir);
        await Promise.race([program.ready(), sleep(dice.whole(600, 2_500))]);
        await sleep(dice.whole(0, 60));
        await kill();
        deaths.add(left > 0 && logBytes() > 0);
      }
      program = await Program.start(dataDir);
      await expectExact();
    }
    deaths.report();
  });

  it('while it removes a segment', async () => {
    const deaths = new Deaths('removal of segments');
    for (let round = 0; round < KILLS; round += 1) {
      const stop = crowd.start(program);
      await sleep(1_500);
      await stop();
      const before = segments();
      // What is read is flushed: its segment goes within a second.
      await program.request('GET', '/spans?limit=1');
      const until = performance.now() + unhurried(3_000);
      while (segments().length === before.length && performance.now() < until) await sleep(1);
      deaths.add(segments().length < before.length);
      await kill();
      program = await Program.start(dataDir);
      await expectExact();
    }
    deaths.report();
  });

  it('takes every write while the engine is killed five times, and shows all of them', async () => {
    const stop = crowd.start(program);
    for (let time = 0; time < 5; time += 1) {
      await sleep(dice.whole(200, 800));
      const { enginePid } = program;
      process.kill(enginePid, 'SIGKILL');
      await program.readyAfter(enginePid);
    }
    await stop();
    expect(crowd.tally).to.include({ refusedWrites: 0, broken: 0 });
    await expectExact();
  });
});

function sizeOf(path: string): number {
  try {
    return statSync(path).size;
  } catch {
    return 0;
  }
}
