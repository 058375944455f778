import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { Program } from './program.js';
import { audit } from './recount.js';
import { Crowd } from './traffic.js';

const STOPPED_WITHIN_MS = 10_000;

describe('stopping and starting the program', () => {
  let dataDir: string;
  let programs: Program[] = [];

  const stops: (() => Promise<void>)[] = [];

  beforeEach(async () => {
    dataDir = await mkdtemp(join(tmpdir(), 'spanhouse-stop-'));
  });

  afterEach(async () => {
    for (const stop of stops.splice(0)) await stop();
    for (const program of programs) await program.destroy();
    programs = [];
    await rm(dataDir, { recursive: true, force: true });
  });

  async function start(): Promise<Program> {
    const program = await Program.start(dataDir);
    programs.push(program);
    return program;
  }

  it('SIGTERM under load: ends with 0 in time, and the next start has all that was acknowledged', async () => {
    const crowd = new Crowd(8, 1);
    let program = await start();
    const stop = crowd.start(program);
    stops.push(stop);
    await sleep(1_000);
    await crowd.served();

    const from = performance.now();
    program.signal('SIGTERM');
    const ended = await program.ended;
    expect(ended).to.deep.equal({ code: 0, signal: null });
    expect(performance.now() - from, 'ms to stop').to.be.below(STOPPED_WITHIN_MS);
    await stop();
    expect(crowd.tally.wrong, 'answers during the stop').to.deep.equal([]);

    program = await start();
    expect(await audit(program, crowd.ledger)).to.deep.equal([]);
  });

  it('SIGTERM while the engine is away: ends in time all the same, and nothing acknowledged is lost', async () => {
    const crowd = new Crowd(4, 2);
    let program = await start();
    const stop = crowd.start(program);
    stops.push(stop);
    await crowd.served();
    process.kill(program.enginePid, 'SIGKILL');
    program.signal('SIGTERM');
    const from = performance.now();
    expect(await program.ended).to.deep.equal({ code: 0, signal: null });
    expect(performance.now() - from, 'ms to stop').to.be.below(STOPPED_WITHIN_MS);
    await stop();
    expect(crowd.tally.wrong).to.deep.equal([]);

    program = await start();
    expect(await audit(program, crowd.ledger)).to.deep.equal([]);
  });

  it('a second process on the same DATA_DIR is refused with a clear message, and the first goes on', async () => {
    const first = await start();
    const second = Program.spawn(dataDir);
    programs.push(second);
    expect(await second.ended).to.deep.equal({ code: 1, signal: null });
    expect(second.stderr.trim().split('\n'), 'one line, no stack').to.have.length(1);
    expect(second.stderr)
      .to.include(dataDir)
      .and.include(`process id ${first.pid}`)
      .and.match(/in use by another/);
    expect((await first.request('GET', '/readyz')).status).to.equal(200);
  });
});
