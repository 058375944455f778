import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { unhurried } from '../harness/program.js';
import { Programs } from '../harness/programs.js';
import { audit } from './recount.js';
import { Crowd } from './traffic.js';

const STOPPED_WITHIN_MS = 10_000;

describe('stopping and starting the program', () => {
  let programs: Programs;
  const stops: (() => Promise<void>)[] = [];

  beforeEach(async () => {
    programs = await Programs.make();
  });

  afterEach(async () => {
    for (const stop of stops.splice(0)) await stop();
    await programs.dispose();
  });

  it('SIGTERM under load: ends with 0 in time, and the next start has all that was acknowledged', async () => {
    const crowd = new Crowd(8, 1);
    let program = await programs.start();
    const stop = crowd.start(program);
    stops.push(stop);
    await sleep(1_000);
    await crowd.served();

    const from = performance.now();
    program.signal('SIGTERM');
    const ended = await program.ended;
    expect(ended).to.deep.equal({ code: 0, signal: null });
    expect(performance.now() - from, 'ms to stop').to.be.below(unhurried(STOPPED_WITHIN_MS));
    await stop();
    expect(crowd.tally.wrong, 'answers during the stop').to.deep.equal([]);

    program = await programs.start();
    expect(await audit(program, crowd.ledger)).to.deep.equal([]);
  });

  it('SIGTERM while the engine is away: ends in time all the same, and nothing acknowledged is lost', async () => {
    const crowd = new Crowd(4, 2);
    let program = await programs.start();
    const stop = crowd.start(program);
    stops.push(stop);
    await crowd.served();
    process.kill(program.enginePid, 'SIGKILL');
    program.signal('SIGTERM');
    const from = performance.now();
    expect(await program.ended).to.deep.equal({ code: 0, signal: null });
    expect(performance.now() - from, 'ms to stop').to.be.below(unhurried(STOPPED_WITHIN_MS));
    await stop();
    expect(crowd.tally.wrong).to.deep.equal([]);

    program = await programs.start();
    expect(await audit(program, crowd.ledger)).to.deep.equal([]);
  });

  it('a second process on the same DATA_DIR is refused with a clear message, and the first goes on', async () => {
    const first = await programs.start();
    const second = programs.spawn();
    expect(await second.ended).to.deep.equal({ code: 1, signal: null });
    expect(second.stderr.trim().split('\n'), 'one line, no stack').to.have.length(1);
    expect(second.stderr)
      .to.include(programs.dataDir)
      .and.include(`process id ${first.pid}`)
      .and.match(/in use by another/);
    expect((await first.request('GET', '/readyz')).status).to.equal(200);
  });
});
