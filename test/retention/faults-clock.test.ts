import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { DATABASE_FILE, openDatabase } from '../../src/engine/metadata/database.js';
import { PROGRAM } from '../backup/admin.js';
import type { Program } from '../harness/program.js';
import { Programs } from '../harness/programs.js';
import { DAY_MS, daysAgo } from './scene.js';

const SHIFTED_CLOCK = fileURLToPath(new URL('../durability/shifted-clock.js', import.meta.url));
const SECOND_MS = 1_000;
const run = promisify(execFile);

async function until(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = performance.now() + 60_000;
  while (!(await holds())) {
    if (performance.now() > deadline) throw new Error(`not within a minute: ${what}`);
    await sleep(200);
  }
}

describe('retention by a clock that is wrong', function () {
  this.timeout(120_000);
  let programs: Programs;
  let program: Program;
  let shiftFile: string;
  const env = () => ({ NODE_OPTIONS: `--import ${SHIFTED_CLOCK}`, CLOCK_SHIFT_FILE: shiftFile });

  async function begin(): Promise<void> {
    programs = await Programs.make();
    shiftFile = join(programs.dataDir, 'clock-shift');
    await startAt(0);
    await program.ask('PATCH', '', { retention_days: 30 });
  }

  before(begin);
  afterEach(function () {
    if (this.currentTest?.isFailed()) console.log(program.complaints());
  });
  after(() => programs.dispose());

  /** Starts the server with its clock so much ahead. */
  async function startAt(shiftMs: number): Promise<void> {
    writeFileSync(shiftFile, String(shiftMs));
    program = await programs.start({ ...env(), RETENTION_INTERVAL_SECONDS: '1' });
  }

  async function stop(): Promise<void> {
    program.signal('SIGTERM');
    await program.ended;
  }

  /** Sets the clock of the server under way. */
  function shift(ms: number): void {
    writeFileSync(shiftFile, String(ms));
    process.kill(program.pid, 'SIGUSR2');
  }

  /** @returns the trace of a span that began so many days ago, by the clock of the machine */
  async function post(days: number): Promise<string> {
    const id = randomUUID();
    await program.ask('POST', '/spans', [{ id, trace_id: id, name: 'a', started_at: daysAgo(days) }]);
    return id;
  }

  const stays = async (id: string) => (await program.ask('GET', `/traces?id=${id}`)).length === 1;
  const goes = (id: string) => until(`trace ${id} goes`, async () => !(await stays(id)));
  const said = (event: string) => program.log.filter((line) => line.includes(`"event":"${event}"`)).length;

  async function ahead(): Promise<number> {
    const text = await (await fetch(`${program.url}/metrics`)).text();
    return Number(/^spanhouse_clock_ahead_seconds (\S+)$/m.exec(text)?.[1]);
  }

  /** Long enough for several runs. */
  const stillThere = async (id: string) => {
    for (let look = 0; look < 8; look += 1) {
      expect(await program.ask('GET', `/traces?id=${id}`), 'stays').to.have.length(1);
      await sleep(500);
    }
  };

  async function admin(...args: string[]): Promise<any> {
    const options = { env: { ...process.env, ...env() } };
    const { stdout } = await run(
      process.execPath,
      [PROGRAM, '--json', '--data-dir', programs.dataDir, ...args],
      options,
    );
    return JSON.parse(stdout);
  }

  it('removes nothing after the clock jumped ahead by 400 days, says so, and goes on once it is right again', async () => {
    const fresh = await post(0);
    await goes(await post(31));
    shift(400 * DAY_MS);
    await until('the jump is said', () => said('clockAhead') > 0);
    await stillThere(fresh);
    expect(await ahead()).to.be.closeTo(400 * 86_400, 600);
    const { next_run_at, clock_ahead_seconds } = await program.ask('GET', 'retention');
    expect(clock_ahead_seconds).to.be.closeTo(400 * 86_400, 600);
    expect(Date.parse(next_run_at) / DAY_MS).to.be.closeTo(Date.now() / DAY_MS + 799, 1);
    await stop();
    await startAt(400 * DAY_MS);
    await stillThere(fresh);
    await until('the jump is said after a start', () => said('clockAhead') > 0);
    shift(0);
    await goes(await post(31));
    expect(await stays(fresh)).to.equal(true);
    expect(await ahead()).to.equal(0);
    expect(said('clockAhead')).to.equal(1);
    expect(said('clockRight')).to.equal(1);
  });

  it('goes on by itself when the server has run for as long as it was off beyond a day', async () => {
    // Due by the clock that is ahead, and not by the other.
    const [due, fresh] = [await post(29.5), await post(1)];
    await stop();
    await startAt(DAY_MS + 30 * SECOND_MS);
    await until('it waits', () => said('clockAhead') > 0);
    expect(await stays(due)).to.equal(true);
    await goes(due);
    expect(await stays(fresh)).to.equal(true);
    shift(0);
  });

  it('goes on at once when somebody who knows the date says that the clock is right', async () => {
    const fresh = await post(1);
    await stop();
    await startAt(100 * DAY_MS);
    await until('it waits', () => said('clockAhead') > 0);
    const shown = await admin('trust-clock');
    expect(shown.ahead_days).to.be.closeTo(99, 1.1);
    const wrong: unknown = await admin('trust-clock', '--today', daysAgo(0).slice(0, 10)).catch(
      (error: unknown) => error,
    );
    expect(String(wrong)).to.include('The clock of this machine says');
    await stillThere(fresh);
    await admin('trust-clock', '--today', daysAgo(-100).slice(0, 10));
    await goes(fresh);
    await until('it is said', () => said('clockRight') > 0);
    expect(await ahead()).to.equal(0);
  });

  it('says that the clock is behind, and goes on when it is told that this is right', async () => {
    // What a wrong clock was believed for once stands in the way no longer than somebody wants it to.
    shift(0);
    await until('the clock behind is said', () => said('clockBehind') > 0);
    expect(await ahead()).to.be.closeTo(-100 * 86_400, 86_400 + 600);
    await goes(await post(31));
    await admin('trust-clock', '--today', daysAgo(0).slice(0, 10));
    await until('it is right', async () => (await ahead()) === 0);
    const fresh = await post(1);
    shift(99 * DAY_MS);
    await until('the jump is said', () => said('clockAhead') > 0);
    await stillThere(fresh);
  });

  it('keeps to what was stored last when it looks for the first time', async () => {
    // Elsewhere: by the jumps above, versions may be as far ahead as the clock will be.
    await programs.dispose();
    await begin();
    const fresh = await post(1);
    await stop();
    forget();
    await startAt(400 * DAY_MS);
    await stillThere(fresh);
    await until('the jump is said', () => said('clockAhead') > 0);
  });

  /** As an installation is that was upgraded. */
  function forget(): void {
    const database = openDatabase(join(programs.dataDir, DATABASE_FILE));
    database.exec('DELETE FROM believed_clock');
    database.close();
  }
});
