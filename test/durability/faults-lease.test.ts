import { expect } from 'chai';
import { cp, mkdtemp } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { randomBytes, randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { TraceRead } from '../../src/engine/traces/model/list/fields.js';
import { connect, type ClickHouseClient } from '../../src/engine/traces/clickhouse/client/client.js';
import { addressed, type TestEngine } from '../engine/contract/engines.js';
import { removeDirectory } from '../harness/fresh-directory.js';
import { Program, unhurried } from '../harness/program.js';
import { bootServer } from '../harness/server.js';
import { startStatementProxy, type StatementProxy } from '../harness/statement-proxy.js';
import { sql } from '../../src/engine/traces/clickhouse/client/sql.js';
import { statementOf } from '../harness/statement.js';

const TRACE = '0199a1b2-0000-7000-8000-00000000000b';
/** Longer on a busy machine, where a server that lives may get no turn for seconds. */
const LEASE_SECONDS = Math.min(12, Math.ceil(unhurried(6_000) / 1_000));
/** Enough that no buffer on the way takes it whole. */
const LARGE = 3_000_000;

/** Something that happens once, and who waits for it. */
function signal(): { readonly promise: Promise<void>; give(): void } {
  let give = (): void => undefined;
  const promise = new Promise<void>((resolve) => (give = resolve));
  return { promise, give: () => give() };
}

describe('the lease on a ClickHouse of the operator', function () {
  this.timeout(120_000);
  let engine: TestEngine;
  let proxy: StatementProxy;
  let direct: ClickHouseClient;
  let database: string;
  let directories: string[] = [];
  let programs: Program[] = [];

  before(async () => {
    engine = await addressed();
  });
  after(() => engine.stop());
  beforeEach(async () => {
    database = `leased_${randomBytes(4).toString('hex')}`;
    proxy = await startStatementProxy(engine.endpoint.url);
    direct = connect({ ...engine.endpoint, database });
  });
  afterEach(async function () {
    if (this.currentTest?.isFailed()) for (const program of programs) console.log(program.complaints(), program.stderr);
    for (const program of programs) program.signal('SIGCONT');
    for (const program of programs) await program.destroy();
    await direct.close();
    await proxy.stop();
    for (const path of directories) await removeDirectory(path);
    [programs, directories] = [[], []];
  });

  const directory = async () => {
    const path = await mkdtemp(join(tmpdir(), 'spanhouse-lease-'));
    directories.push(path);
    return path;
  };
  const environment = (seconds: number) => ({
    CLICKHOUSE_URL: proxy.url,
    CLICKHOUSE_USER: engine.endpoint.username,
    CLICKHOUSE_PASSWORD: engine.endpoint.password,
    CLICKHOUSE_DATABASE: database,
    CLICKHOUSE_LEASE_SECONDS: String(seconds),
  });
  const spawn = (dataDir: string, seconds = LEASE_SECONDS) => {
    const program = Program.spawn(dataDir, environment(seconds));
    programs.push(program);
    return program;
  };
  const start = async (dataDir: string, seconds?: number) => {
    const program = spawn(dataDir, seconds);
    await program.ready();
    return program;
  };
  const span = (name: string, more: object = {}) => ({
    id: randomUUID(),
    trace_id: TRACE,
    name,
    started_at: '2026-01-15T10:00:00Z',
    ...more,
  });
  const store = async (program: Program, name: string) =>
    expect((await program.request('POST', '/spans', [span(name)])).status, name).to.equal(200);
  /** Sends spans whose answer may take as long as it likes. @returns the status; 0: the connection broke. */
  const send = async (program: Program, spans: readonly object[]) => {
    const answer = fetch(`${program.url}/spans`, {
      method: 'POST',
      headers: { authorization: `Bearer ${program.key}`, 'content-type': 'application/json' },
      body: JSON.stringify(spans),
    });
    return answer.then(
      ({ status }) => status,
      () => 0,
    );
  };
  /** Spans, facts and the trace's own figure, which have to agree. */
  const names = async (program: Program) => {
    const { json } = await program.request('GET', `/spans?trace_id=${TRACE}&limit=100`);
    const listed = (json as { name: string }[]).map(({ name }) => name).sort();
    const traces = (await program.request('GET', '/traces')).json as TraceRead[];
    expect(traces.map(({ span_count }) => span_count)).to.deep.equal(listed.length === 0 ? [] : [listed.length]);
    const stored = await direct.query<{ name: string }>(sql`SELECT name FROM spans UNION ALL SELECT name FROM facts`);
    expect(stored.map(({ name }) => name).sort(), 'stored').to.deep.equal([...listed, ...listed].sort());
    return listed;
  };
  const isInsert = (statement: string) => statement.startsWith('INSERT INTO `spans`');
  /** Has the way of spans to the server stop somewhere. @returns what says that it has, and what lets them go on. */
  const gate = (at: 'hold' | 'holdRest') => {
    const reached = signal();
    const open = signal();
    proxy[at] = (statement) => {
      if (!isInsert(statement)) return undefined;
      proxy[at] = () => undefined;
      reached.give();
      return open.promise;
    };
    return { reached: reached.promise, open: () => open.give() };
  };
  const takenAfterMs = (program: Program) => {
    const line = program.log.find((entry) => entry.includes('Database lease acquired')) ?? '{}';
    return (JSON.parse(line) as { ms?: number }).ms ?? Infinity;
  };

  it('refuses a second server while the first one lives, also on a copy of its DATA_DIR', async () => {
    const first = await start(await directory());
    await store(first, 'kept');
    const copy = await directory();
    // Node.js copies no sockets.
    await cp(directories[0] ?? '', copy, { recursive: true, filter: (path) => !path.endsWith('.sock') });
    for (const dataDir of [await directory(), copy]) {
      const second = spawn(dataDir);
      expect((await second.ended).code).to.equal(1);
      expect(second.stderr)
        .to.include(`The database ${database} on the ClickHouse at ${new URL(proxy.url).host} is in use by another`)
        .and.include(`process ${first.pid} on ${hostname()}, since 20`)
        .and.include('CLICKHOUSE_DATABASE')
        .and.not.match(/^ {4}at /m);
    }
    await store(first, 'more');
    expect(await names(first)).to.deep.equal(['kept', 'more']);
  });

  it('lets one of several servers start that are started at the same time', async () => {
    // All claims are there before one is stored, and are stored one after another.
    const isClaim = (statement: string) => statement.includes('max((epoch, owner, renewals))');
    const all = signal();
    let claims = 0;
    proxy.hold = (statement) => {
      if (!isClaim(statement) || claims >= 3) return undefined;
      claims += 1;
      if (claims === 3) all.give();
      return all.promise;
    };
    let delay = 0;
    proxy.rewrite = (statement) => (isClaim(statement) ? `${statement} AND sleep(${delay++ % 3}) = 0` : statement);
    const racing = [];
    for (let count = 0; count < 3; count += 1) racing.push(spawn(await directory()));
    const outcomes = await Promise.all(
      racing.map((program) =>
        Promise.race([
          program.ended.then(({ code }) => code),
          program.ready().then(
            () => 'ready',
            () => 1,
          ),
        ]),
      ),
    );
    expect(outcomes.sort()).to.deep.equal([1, 1, 'ready']);
    expect(claims).to.equal(3);
    for (const program of racing.filter(({ running }) => !running))
      expect(program.stderr).to.include('is in use by another Spanhouse server');
  });

  it('lets another server start at once after a clean stop', async () => {
    const first = await start(await directory(), 60);
    await store(first, 'first');
    first.signal('SIGTERM');
    expect(await first.ended).to.deep.equal({ code: 0, signal: null });
    const second = await start(await directory());
    await store(second, 'second');
    expect(await names(second)).to.deep.equal(['first', 'second']);
  });

  it('lets the same DATA_DIR start at once after kill -9, and another one once the lease has run out', async () => {
    const dataDir = await directory();
    const first = await start(dataDir, 600);
    await store(first, 'first');
    await first.destroy();
    const second = await start(dataDir);
    await store(second, 'second');
    const killedAt = performance.now();
    await second.destroy();
    const third = spawn(await directory());
    await third.ready();
    expect(performance.now() - killedAt).to.be.above(LEASE_SECONDS * 1000 * 0.75);
    expect(takenAfterMs(third)).to.be.below(60_000);
    expect(await names(third)).to.deep.equal(['first', 'second']);
  });

  it('stores nothing of an insert that arrives after its server has died and the next one has begun', async () => {
    const dataDir = await directory();
    const first = await start(dataDir);
    await store(first, 'first');
    const insert = gate('hold');
    void send(first, [span('late')]);
    await insert.reached;
    await first.destroy();
    const second = await start(dataDir);
    await store(second, 'second');
    insert.open();
    await sleep(1_500);
    expect(await names(second)).to.deep.equal(['first', 'second']);
    await store(second, 'third');
    expect(await names(second)).to.deep.equal(['first', 'second', 'third']);
  });

  it('waits for an insert that still runs when its server has died, and counts it', async () => {
    const dataDir = await directory();
    const first = await start(dataDir);
    await store(first, 'first');
    proxy.rewrite = (statement) =>
      isInsert(statement) ? statement.replace('WHERE lease_held', 'WHERE lease_held AND sleep(3) = 0') : statement;
    void send(first, [span('slow')]);
    const runs = "SELECT query FROM system.processes WHERE position(query, 'sleep') > 0 AND query LIKE 'INSERT%'";
    while ((await direct.query(statementOf(runs))).length === 0) await sleep(10);
    await first.destroy();
    proxy.rewrite = (statement) => statement;
    expect(await names(await start(dataDir))).to.deep.equal(['first', 'slow']);
  });

  it('ends a server that was stopped in the middle of an insert and replaced, and stores nothing of it', async () => {
    const first = await start(await directory());
    await store(first, 'first');
    const insert = gate('holdRest');
    const answer = send(
      first,
      Array.from({ length: 4 }, () => span('paused', { input_data: randomBytes(LARGE).toString('base64') })),
    );
    await insert.reached;
    first.signal('SIGSTOP');
    const second = await start(await directory());
    await store(second, 'second');
    insert.open();
    first.signal('SIGCONT');
    expect(await answer, 'not acknowledged').to.be.oneOf([0, 503]);
    expect((await first.ended).code).to.equal(1);
    expect(first.stderr)
      .to.include(`now belongs to another Spanhouse server (process ${second.pid} on`)
      .and.not.match(/^ {4}at /m);
    expect(await names(second)).to.deep.equal(['first', 'second']);
  });

  it('refuses writes while the lease cannot be renewed, and takes them again afterwards', async () => {
    const program = await start(await directory());
    proxy.reply = (statement) =>
      statement.includes('server_lease') && !isInsert(statement) ? { code: 210 } : undefined;
    await sleep(LEASE_SECONDS * 1000);
    const sent = proxy.statements.length;
    const refused = await program.request('POST', '/spans', [span('refused')]);
    expect(refused).to.include({ status: 503 });
    expect(refused.json.detail).to.include('lease');
    expect(proxy.statements.slice(sent).filter(isInsert)).to.deep.equal([]);
    expect((await program.request('GET', '/readyz')).status).to.equal(503);
    proxy.reply = () => undefined;
    await program.ready();
    await store(program, 'kept');
    expect(await names(program)).to.deep.equal(['kept']);
  });

  it('does not mind when the clock of the server jumps', async () => {
    const server = await bootServer({ dataDir: await directory(), env: environment(LEASE_SECONDS) });
    const now = Date.now.bind(Date);
    try {
      for (const hours of [-5, 5]) {
        Date.now = () => now() + hours * 3_600_000;
        await sleep(LEASE_SECONDS * 500);
        const answer = await server.request('POST', '/spans', { body: [span('kept')] });
        expect(answer.status, `${hours} h`).to.equal(200);
      }
      const second = spawn(await directory());
      expect((await second.ended).code).to.equal(1);
      expect(second.stderr).to.include('is in use by another');
    } finally {
      Date.now = now;
      await server.stop();
    }
  });
});
