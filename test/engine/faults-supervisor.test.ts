import { expect } from 'chai';
import { unhurried } from '../harness/program.js';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readdir, readFile, readlink, rm, stat, statfs } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { DomainError } from '../../src/engine/errors.js';
import { connect } from '../../src/engine/traces/clickhouse/client/client.js';
import type { ClickHouseClient } from '../../src/engine/traces/clickhouse/client/client.js';
import { EngineLockedError, startEngine } from '../../src/engine/traces/clickhouse/process/supervisor.js';
import type { Engine, EngineOptions, EngineState } from '../../src/engine/traces/clickhouse/process/supervisor.js';
import { LIMITS, scratch, silent } from './contract/engines.js';
import { sql } from '../../src/engine/traces/clickhouse/client/sql.js';
import { statementOf } from '../harness/statement.js';

/** The promise: a dead or stopped engine is noticed within this time. */
const NOTICED_WITHIN_MS = 2_000;
/** The type of a file system in memory, as statfs(2) has it. */
const TMPFS = 0x01021994;

describe('engine supervisor', () => {
  const started: Engine[] = [];
  const folders: { path: string; remove(): Promise<void> }[] = [];

  const folder = async (): Promise<string> => {
    const made = await scratch();
    folders.push(made);
    return made.path;
  };
  const start = async (options: Partial<EngineOptions> & { path: string }): Promise<Engine> => {
    const engine = await startEngine({ ...LIMITS, logger: silent, ...options });
    started.push(engine);
    return engine;
  };

  afterEach(async () => {
    for (const engine of started.splice(0)) await engine.stop();
    for (const made of folders.splice(0)) await made.remove();
  });

  it('reads files in memory in place, and those of a disk in other threads, too', async () => {
    const path = await folder();
    const engine = await start({ path });
    const client = connect(engine.endpoint);
    const rows = await client.query(sql`SELECT value FROM system.settings WHERE name = 'local_filesystem_read_method'`);
    await client.close();
    const isInMemory = (await statfs(path)).type === TMPFS;
    expect(rows).to.deep.equal([{ value: isInMemory ? 'pread' : 'pread_threadpool' }]);
  });

  for (const signal of ['SIGKILL', 'SIGSTOP', 'SIGSEGV'] as const) {
    it(`notices an engine hit by ${signal} within 2 s and brings it back with its data and address`, async () => {
      const states: EngineState[] = [];
      const engine = await start({ path: await folder(), onState: (state) => states.push(state) });
      const { endpoint, pid } = engine;
      const client = connect(endpoint);
      await fill(client);

      const from = Date.now();
      process.kill(pid as number, signal);
      await until(() => engine.state !== 'ready', 10_000);
      const noticed = Date.now() - from;
      await until(() => engine.state === 'ready', 20_000);

      expect(noticed).to.be.below(unhurried(NOTICED_WITHIN_MS));
      expect(states).to.deep.equal(['ready', 'starting', 'ready']);
      expect(engine.restarts).to.equal(1);
      expect(engine.endpoint).to.deep.equal(endpoint);
      expect(engine.pid).to.be.a('number').and.not.equal(pid);
      expect(isAlive(pid as number)).to.equal(false);
      expect(await client.query(sql`SELECT id FROM kept`)).to.deep.equal([{ id: 7 }]);
      await client.close();
    });
  }

  it('answers "unavailable, try again" while the engine is away, in no time', async () => {
    const engine = await start({ path: await folder() });
    const client = connect(engine.endpoint);
    await client.query(sql`SELECT 1`);
    process.kill(engine.pid as number, 'SIGKILL');
    await until(() => engine.state !== 'ready', 5_000);
    const from = Date.now();
    const [read, write] = await Promise.allSettled([
      client.query(sql`SELECT 1`),
      client.insert('kept', ['id'], 'RowBinary', Buffer.alloc(8)),
    ]);
    expect(Date.now() - from).to.be.below(unhurried(1_000));
    expect(read).to.have.property('reason').that.includes({ kind: 'unavailable', retryAfterSeconds: 1 });
    expect(write).to.have.property('reason').that.includes({ kind: 'unavailable', outcome: 'none' });
    await client.close();
  });

  it('ends a running read of a killed engine at once, with "unavailable"', async () => {
    const engine = await start({ path: await folder() });
    const client = connect(engine.endpoint);
    const running = client.query(sql`SELECT count() FROM numbers(1000000000000) WHERE NOT ignore(sipHash64(number))`);
    const outcome = running.catch((error: unknown) => error);
    await new Promise((resolve) => setTimeout(resolve, 300));
    const from = Date.now();
    process.kill(engine.pid as number, 'SIGKILL');
    expect(await outcome)
      .to.be.instanceOf(DomainError)
      .and.to.include({ kind: 'unavailable' });
    expect(Date.now() - from).to.be.below(unhurried(NOTICED_WITHIN_MS));
    await client.close();
  });

  // For longer than the engine has for a sign of life: faults-heavy-work.test.ts.
  it('does not take heavy work for a hang', async () => {
    const engine = await start({ path: await folder() });
    const client = connect(engine.endpoint);
    const { pid } = engine;
    const heavy = 'SELECT count() FROM numbers(1000000000000) WHERE NOT ignore(sipHash64(number))';
    const reads = Array.from({ length: 12 }, () =>
      client.query(statementOf(heavy), { settings: { max_execution_time: 2 } }),
    );
    for (const { status } of await Promise.allSettled(reads)) expect(status).to.equal('rejected');
    expect(engine).to.include({ pid, restarts: 0, state: 'ready' });
    await client.close();
  });

  it('does not take a pause of its own process for a hang', async () => {
    const engine = await start({ path: await folder() });
    const { pid } = engine;
    for (let pause = 0; pause < 2; pause++) {
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2_500);
      await new Promise((resolve) => setTimeout(resolve, 500));
    }
    expect(engine).to.include({ pid, restarts: 0, state: 'ready' });
  });

  it('recovers before it is ready: on the first start, after a restart, and again when that failed', async () => {
    const seen: string[] = [];
    let fail = 0;
    const engine = await start({
      path: await folder(),
      onReady: async (endpoint) => {
        const client = connect(endpoint);
        await client.query(sql`SELECT 1`);
        await client.close();
        seen.push('first hook');
      },
    });
    expect(seen).to.deep.equal(['first hook']);
    engine.onReady(async () => {
      seen.push(`second hook while ${engine.state}`);
      if (fail-- > 0) throw new Error('not recovered');
    });
    fail = 1;
    process.kill(engine.pid as number, 'SIGKILL');
    await until(() => engine.restarts === 2 && engine.state === 'ready', 20_000);
    const round = ['first hook', 'second hook while starting'];
    expect(seen).to.deep.equal(['first hook', ...round, ...round]);
  });

  it('refuses a directory that is in use, by name, and leaves its owner alone', async () => {
    const path = await folder();
    const engine = await start({ path });
    const from = Date.now();
    const error: unknown = await start({ path }).catch((reason: unknown) => reason);
    expect(error).to.be.instanceOf(EngineLockedError).and.to.include({ path, kind: 'unavailable' });
    expect((error as Error).message).to.contain(path);
    expect(Date.now() - from).to.be.below(unhurried(12_000));
    const client = connect(engine.endpoint);
    expect(await client.ping()).to.equal(true);
    await client.close();
  });

  it('says why it does not start', async () => {
    const path = await folder();
    const error: unknown = await start({ path, memoryMb: Number.NaN }).catch((reason: unknown) => reason);
    expect(error).to.be.instanceOf(DomainError).and.not.to.be.instanceOf(EngineLockedError);
    expect((error as Error).message).to.match(/cannot start the engine: .+/);
    expect(await start({ path })).to.include({ state: 'ready' });
  });

  it('gives up on an engine that does not open in time', async () => {
    const error: unknown = await start({ path: await folder(), startDeadlineMs: 5 }).catch((reason: unknown) => reason);
    expect((error as Error).message).to.match(/did not open within 5 ms/);
  });

  it('listens on a socket that no other user may open, and on no port', async function () {
    if (process.platform !== 'linux') this.skip();
    const engine = await start({ path: await folder() });
    const { mode } = await stat(engine.endpoint.socketPath ?? '');
    expect(mode & 0o077, 'rights of others').to.equal(0);
    const descriptors = await readdir(`/proc/${engine.pid}/fd`);
    const links = await Promise.all(descriptors.map((fd) => readlink(`/proc/${engine.pid}/fd/${fd}`).catch(() => '')));
    for (const family of ['tcp', 'tcp6']) {
      for (const line of (await readFile(`/proc/net/${family}`, 'utf8')).split('\n').slice(1)) {
        const [, , , state, , , , , , inode] = line.trim().split(/\s+/);
        if (state === '0A') expect(links).to.not.include(`socket:[${inode}]`);
      }
    }
  });

  it('listens elsewhere when the path of its directory is too long for a socket, and leaves nothing there', async () => {
    const path = join(await folder(), 'd'.repeat(120));
    const engine = await start({ path });
    const socket = engine.endpoint.socketPath ?? '';
    expect(socket).to.not.contain(path);
    expect((await stat(dirname(socket))).mode & 0o077, 'rights of others').to.equal(0);
    const client = connect(engine.endpoint);
    expect(await client.query(sql`SELECT 1 AS n`)).to.deep.equal([{ n: 1 }]);
    await client.close();
    await engine.stop();
    const gone: unknown = await stat(dirname(socket)).catch((error: unknown) => error);
    expect(gone).to.include({ code: 'ENOENT' });
  });

  it('comes back at the same socket, as soon as it can be made', async () => {
    const engine = await start({ path: await folder() });
    const socket = engine.endpoint.socketPath ?? '';
    process.kill(engine.pid as number, 'SIGKILL');
    await until(() => engine.state !== 'ready', 5_000);
    await rm(socket, { force: true });
    await mkdir(socket);
    await until(() => engine.state === 'failed', 10_000);
    await rm(socket, { recursive: true });
    await until(() => engine.state === 'ready', 20_000);
    expect(engine.endpoint.socketPath).to.equal(socket);
    const client = connect(engine.endpoint);
    expect(await client.query(sql`SELECT 1 AS n`)).to.deep.equal([{ n: 1 }]);
    await client.close();
  });

  it('stops in time with its inserts done, once however often it is asked, and not to come back', async () => {
    const path = await folder();
    const engine = await start({ path });
    const { pid } = engine;
    const client = connect(engine.endpoint);
    await fill(client);
    const insert = client.command(sql`INSERT INTO kept SELECT number + sleepEachRow(0.1) FROM numbers(10)`);
    const running = sql`SELECT 1 FROM system.processes WHERE startsWith(query, 'INSERT INTO kept SELECT')`;
    while ((await client.query(running)).length === 0);
    const from = Date.now();
    await Promise.all([engine.stop(), engine.stop(), insert]);
    expect(Date.now() - from).to.be.below(unhurried(8_500));
    expect(engine.state).to.equal('stopped');
    expect(isAlive(pid as number)).to.equal(false);
    await client.close();

    const again = await start({ path });
    const reader = connect(again.endpoint);
    expect(await reader.query(sql`SELECT count() AS n FROM kept`)).to.deep.equal([{ n: 11 }]);
    await reader.close();
  });

  it('dies with its parent, so that a kill -9 of the server frees the directory', async () => {
    const path = await folder();
    const parent = fork(new URL('./supervisor-parent.js', import.meta.url), [path], { stdio: 'ignore' });
    const [pid] = (await once(parent, 'message')) as [number];
    expect(isAlive(pid)).to.equal(true);
    parent.kill('SIGKILL');
    const from = Date.now();
    await until(() => !isAlive(pid), 5_000);
    expect(Date.now() - from).to.be.below(unhurried(NOTICED_WITHIN_MS));
    expect(await start({ path })).to.include({ state: 'ready' });
  });

  it('keeps its password off the command line and out of the environment', async function () {
    if (process.platform !== 'linux') this.skip();
    const engine = await start({ path: await folder() });
    for (const file of ['cmdline', 'environ']) {
      expect(await readFile(`/proc/${engine.pid}/${file}`, 'utf8')).not.to.contain(engine.endpoint.password);
    }
  });

  it('leaves no file of an insert behind', async () => {
    const path = await folder();
    const engine = await start({ path });
    const client = connect(engine.endpoint);
    await fill(client);
    await client.insert('kept', ['id'], 'RowBinary', Buffer.alloc(7)).catch(() => undefined);
    expect(await readdir(join(path, 'incoming'))).to.deep.equal([]);
    await client.close();
  });
});

async function fill(client: ClickHouseClient): Promise<void> {
  await client.command(
    sql`CREATE TABLE kept (id UInt64) ENGINE = MergeTree ORDER BY id SETTINGS fsync_after_insert = 1`,
  );
  const row = Buffer.alloc(8);
  row.writeBigUInt64LE(7n);
  await client.insert('kept', ['id'], 'RowBinary', row);
}

async function until(condition: () => boolean, withinMs: number): Promise<void> {
  const deadlineMs = unhurried(withinMs);
  const end = Date.now() + deadlineMs;
  while (!condition()) {
    if (Date.now() > end) throw new Error(`not within ${deadlineMs} ms`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
