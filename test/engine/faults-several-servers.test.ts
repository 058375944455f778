import { randomUUID } from 'node:crypto';
import { mkdtemp } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { connect, type ClickHouseClient } from '../../src/engine/traces/clickhouse/client/client.js';
import { sql } from '../../src/engine/traces/clickhouse/client/sql.js';
import { startBalancer, type Balancer } from '../harness/balancer.js';
import { removeDirectory } from '../harness/fresh-directory.js';
import { Program } from '../harness/program.js';
import { bootServer } from '../harness/server.js';
import { startStatementProxy, type StatementProxy } from '../harness/statement-proxy.js';
import { addressed, type TestEngine } from './contract/engines.js';

const LEASE_SECONDS = 6;

describe('one address of several ClickHouse servers', function () {
  this.timeout(240_000);
  const engines: TestEngine[] = [];
  const proxies: StatementProxy[] = [];
  const clients: ClickHouseClient[] = [];
  const programs: Program[] = [];
  const directories: string[] = [];
  let balancer: Balancer;

  before(async () => {
    for (let server = 1; server <= 2; server += 1) {
      const engine = await addressed();
      const proxy = await startStatementProxy(engine.endpoint.url);
      engines.push(engine);
      proxies.push(proxy);
      clients.push(connect(engine.endpoint));
    }
    balancer = await startBalancer(...proxies.map(({ url }) => url));
  });
  beforeEach(() => {
    for (const proxy of proxies) proxy.rewrite = (statement) => statement;
  });
  afterEach(async function () {
    if (this.currentTest?.isFailed()) for (const program of programs) console.log(program.complaints(), program.stderr);
    for (const program of programs.splice(0)) await program.destroy();
  });
  after(async () => {
    await balancer.stop();
    for (const client of clients) await client.close();
    for (const proxy of proxies) await proxy.stop();
    for (const engine of engines) await engine.stop();
    for (const path of directories) await removeDirectory(path);
  });

  async function directory(): Promise<string> {
    const path = await mkdtemp(join(tmpdir(), 'spanhouse-several-'));
    directories.push(path);
    return path;
  }

  const environment = (url: string) => ({
    CLICKHOUSE_URL: url,
    CLICKHOUSE_USER: engines[0]?.endpoint.username ?? '',
    CLICKHOUSE_PASSWORD: engines[0]?.endpoint.password ?? '',
    CLICKHOUSE_DATABASE: 'balanced',
    CLICKHOUSE_LEASE_SECONDS: String(LEASE_SECONDS),
  });

  async function spawn(): Promise<Program> {
    const program = Program.spawn(await directory(), environment(balancer.url));
    programs.push(program);
    return program;
  }

  const databases = async () => {
    const names = clients.map((client) => client.query<{ name: string }>(sql`SELECT name FROM system.databases`));
    return (await Promise.all(names)).flat().map(({ name }) => name);
  };
  const spans = async (server: 0 | 1) => {
    const rows = await clients[server]?.query<{ id: string }>(
      sql`SELECT DISTINCT toString(id) AS id FROM balanced.spans`,
    );
    return rows?.map(({ id }) => id) ?? [];
  };

  it('is refused at the start, before anything is created', async () => {
    balancer.targets = proxies.map(({ url }) => url);
    const program = await spawn();
    expect((await program.ended).code).to.equal(1);
    expect(program.stderr)
      .to.include(`2 ClickHouse servers respond at ${new URL(balancer.url).host}: ${hostname()}, ${hostname()}.`)
      .and.include('Set CLICKHOUSE_URL to the address of one server')
      .and.not.match(/^ {4}at /m);
    expect(await databases()).not.to.include('balanced');
  });

  it('stops the server when there come to be several, and nothing was written to another one until then', async () => {
    const ids = [randomUUID(), randomUUID()];
    for (const [index, proxy] of proxies.entries())
      proxy.rewrite = (statement) => statement.replaceAll('serverUUID()', `toUUID('${ids[index] ?? ''}')`);
    // The tables are there on both, as on replicas.
    for (const { url } of proxies) {
      const server = await bootServer({ dataDir: await directory(), env: environment(url) });
      await server.stop();
    }
    balancer.targets = [proxies[0]?.url ?? ''];
    const program = await spawn();
    await program.ready();
    const [claim = {}] = await claims(0);
    // And so is what the server on the first one has claimed.
    const replica = connect({ ...(engines[1] as TestEngine).endpoint, database: 'balanced' });
    clients.push(replica);
    await replica.command(sql`TRUNCATE TABLE server_lease`);
    await replica.insert('server_lease', Object.keys(claim), 'JSONEachRow', Buffer.from(JSON.stringify(claim)));
    balancer.targets = proxies.map(({ url }) => url);
    const stored: string[] = [];
    let cuts = 0;
    const ended = program.ended.then(({ code }) => code);
    for (let running = true; running; running = await Promise.race([ended.then(() => false), sleep(20, true)])) {
      const id = randomUUID();
      // The next insert has a connection of its own.
      if (cuts++ % 3 === 0) balancer.cut();
      const { status } = await program.request('POST', '/spans', [
        { id, trace_id: id, name: 'a', started_at: '2026-01-15T10:00:00Z' },
      ]);
      if (status === 200) stored.push(id);
    }
    expect(await ended).to.equal(1);
    expect(program.stderr).to.include('2 ClickHouse servers respond at').and.include(ids[0]).and.include(ids[1]);
    expect(await spans(0)).to.include.members(stored);
    expect(await spans(1), 'on the other').to.deep.equal([]);
  });

  const claims = async (server: 0 | 1) =>
    (await clients[server]?.query<Record<string, unknown>>(
      sql`SELECT * FROM balanced.server_lease ORDER BY epoch DESC, renewals DESC LIMIT 1`,
    )) ?? [];
});
