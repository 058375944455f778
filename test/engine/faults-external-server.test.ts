import { expect } from 'chai';
import { randomUUID } from 'node:crypto';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect } from '../../src/engine/traces/clickhouse/client/client.js';
import { ExternalServerError, NEEDED_VERSION } from '../../src/engine/traces/external-server.js';
import { removeDirectory } from '../harness/fresh-directory.js';
import { addressed, type TestEngine } from './contract/engines.js';
import { eventually } from '../judges/judge-api.js';
import { Program } from '../harness/program.js';
import { bootServer, type TestServer } from '../harness/server.js';
import { startStatementProxy, type Reply, type StatementProxy } from '../harness/statement-proxy.js';
import { sql } from '../../src/engine/traces/clickhouse/client/sql.js';

/** A database of several tests, as creating the tables takes longer than all else: each has a trace of its own. */
const SHARED = 'Observed';
/** As the library asks whether ClickHouse answers. */
const PING = "SELECT 'ping'";

describe('a ClickHouse of the operator', function () {
  this.timeout(60_000);
  let engine: TestEngine;
  let proxy: StatementProxy;
  let dataDir: string;
  let trace: string;
  const server = new Set<TestServer>();

  before(async () => {
    engine = await addressed();
  });
  after(() => engine.stop());
  beforeEach(async () => {
    proxy = await startStatementProxy(engine.endpoint.url);
    dataDir = await mkdtemp(join(tmpdir(), 'spanhouse-own-'));
    trace = randomUUID();
  });
  afterEach(async () => {
    for (const running of server) await running.stop();
    server.clear();
    await proxy.stop();
    await removeDirectory(dataDir);
  });

  const environment = (database: string) => ({
    CLICKHOUSE_URL: proxy.url,
    CLICKHOUSE_USER: engine.endpoint.username,
    CLICKHOUSE_PASSWORD: engine.endpoint.password,
    CLICKHOUSE_DATABASE: database,
  });
  const start = async (database: string, more: Record<string, string> = {}) => {
    const running = await bootServer({ dataDir, env: { ...environment(database), ...more } });
    server.add(running);
    return running;
  };
  /** Starts a server, which has to fail. @returns what the program says of that */
  const refused = async (database: string, more: Record<string, string> = {}) => {
    const error: unknown = await start(database, more).catch((reason: unknown) => reason);
    expect(error).to.be.instanceOf(ExternalServerError);
    return (error as ExternalServerError).message;
  };
  const databases = async () => {
    const client = connect(engine.endpoint);
    const rows = await client.query<{ name: string }>(sql`SELECT name FROM system.databases`);
    await client.close();
    return rows.map(({ name }) => name);
  };
  const created = () => proxy.statements.filter((statement) => statement.startsWith('CREATE DATABASE'));
  const names = async (running: TestServer) => {
    const { status, json } = await running.request('GET', `/spans?trace_id=${trace}`);
    expect(status).to.equal(200);
    return (json as { name: string }[]).map(({ name }) => name);
  };
  const post = (running: TestServer) => {
    const attributes = { model: 'gpt-4o' };
    const span = { trace_id: trace, name: 'first', started_at: '2026-01-15T10:00:00Z', attributes };
    return running.request('POST', '/spans', { body: [span] });
  };
  const store = async (running: TestServer) => expect((await post(running)).status).to.be.within(200, 299);
  const ready = async (running: TestServer) => {
    const until = Date.now() + 60_000;
    while ((await running.request('GET', '/readyz')).status !== 200) {
      if (Date.now() > until) throw new Error('not ready again within a minute');
      await sleep(50);
    }
  };
  /** Answers the version, and lets everything else pass. */
  const version =
    (found: string) =>
    (statement: string): Reply | undefined =>
      statement.includes('SELECT version()') ? { rows: [{ version: found }] } : undefined;

  it('is given the database that is missing, and keeps spans in it over a restart', async () => {
    const first = await start(SHARED);
    await store(first);
    expect(await names(first)).to.deep.equal(['first']);
    expect(created()).to.deep.equal(['CREATE DATABASE IF NOT EXISTS `Observed`']);
    await first.stop();
    const again = await start(SHARED);
    expect(await names(again)).to.deep.equal(['first']);
    expect((await again.request('GET', '/readyz')).status).to.equal(200);
    expect(created(), 'once').to.have.lengthOf(1);
  });

  it('is asked once a second whether it answers, however often anybody wants to know', async () => {
    const running = await start(SHARED);
    const asked = () => proxy.statements.filter((statement) => statement === PING).length;
    const before = asked();
    const from = performance.now();
    for (let round = 0; round < 10; round += 1)
      await Promise.all(
        Array.from({ length: 20 }, async () => {
          expect((await running.request('GET', '/readyz', { key: null })).status).to.equal(200);
        }),
      );
    const seconds = (performance.now() - from) / 1000;
    expect(asked() - before).to.be.within(1, 2 + seconds);
    proxy.reply = (statement) => (statement === PING ? { code: 241 } : undefined);
    const answered = () => running.request('GET', '/readyz', { key: null });
    let failing = await answered();
    while (failing.status === 200) {
      await sleep(50);
      failing = await answered();
    }
    expect([failing.status, failing.json.checks.clickhouse]).to.deep.equal([503, 'ClickHouse does not respond']);
    proxy.reply = () => undefined;
    await ready(running);
  });

  it('answers 503 while its disk is full, under whichever code it says so, and is well afterwards', async () => {
    const running = await start(SHARED);
    const noSpace = [
      { code: 243 },
      { code: 1002, text: 'Cannot write to file: errno: 28, strerror: No space left on device' },
    ];
    for (const reply of noSpace) {
      proxy.reply = (statement) => (statement.startsWith('INSERT INTO `spans`') ? reply : undefined);
      const { status, headers } = await post(running);
      expect(status).to.equal(503);
      expect(Number(headers.get('retry-after'))).to.be.above(1);
      proxy.reply = () => undefined;
      await ready(running);
      await store(running);
    }
    expect(await names(running)).to.deep.equal(['first', 'first']);
  });

  it('is asked for its figures when metrics are read, also where it does not show them', async () => {
    const running = await start(SHARED);
    const metrics = async () => (await running.request('GET', '/metrics', { key: null })).text;
    const text = await metrics();
    expect(text).to.match(/^spanhouse_engine_up 1$/m);
    expect(text).to.match(/^spanhouse_engine_memory_bytes [1-9]\d*$/m);
    expect(text).to.match(/^spanhouse_engine_parts [1-9]\d*$/m);
    expect(text, 'no limit that is known here').to.not.match(/^spanhouse_engine_memory_max_bytes /m);
    const asked = (statement: string) => statement.includes('system.metrics');
    const up = /^spanhouse_engine_up (\d)$/m;
    for (const [code, answers] of [
      [497, '1'],
      [210, '0'],
    ] as const) {
      proxy.reply = (statement) => (asked(statement) ? { code } : undefined);
      await eventually(
        metrics,
        (later) => !/^spanhouse_engine_memory_bytes /m.test(later) && up.exec(later)?.[1] === answers,
      );
    }
  });

  it('keeps databases apart', async () => {
    const one = await start(SHARED);
    await store(one);
    await one.stop();
    expect(await names(await start('another'))).to.deep.equal([]);
  });

  it('needs no right to create a database that exists', async () => {
    await (await start(SHARED)).stop();
    proxy.reply = (statement) => (statement.startsWith('CREATE DATABASE') ? { code: 497 } : undefined);
    const running = await start(SHARED);
    await store(running);
    expect(await names(running)).to.deep.equal(['first']);
  });

  it('says what to run when the database is missing and the user may not create it', async () => {
    proxy.reply = (statement) => (statement.startsWith('CREATE DATABASE') ? { code: 497 } : undefined);
    const message = await refused('forbidden');
    expect(`${message}\n`)
      .to.include('cannot see or create the database `forbidden`')
      .and.include('\n  CREATE DATABASE IF NOT EXISTS `forbidden`;\n')
      .and.include('\n  GRANT ALL ON `forbidden`.* TO `reader of lists`;\n');
    const program = Program.spawn(dataDir, environment('forbidden'));
    expect((await program.ended).code).to.equal(1);
    expect(program.stderr, 'the same, without a stack').to.equal(`${message}\n`);
    expect(await databases()).not.to.include('forbidden');
  });

  it('is refused when it is older than what the migrations were written for, with both versions', async () => {
    for (const old of ['25.8.2.29', '26.6.9.99', 'unknown']) {
      proxy.reply = version(old);
      expect(await refused('older')).to.include(`has version ${old}; upgrade it to ${NEEDED_VERSION} or newer`);
    }
    expect(await databases(), 'nothing was changed').not.to.include('older');
  });

  it('may be newer', async () => {
    for (const newer of [`${NEEDED_VERSION}.1.1.altinitystable`, '26.12.1.1', '27.1.1.1']) {
      proxy.reply = version(newer);
      await (await start(SHARED)).stop();
    }
  });

  it('says whose name or password is wrong, and where nobody answers', async () => {
    expect(await refused('locked', { CLICKHOUSE_PASSWORD: 'not this' }))
      .to.include('rejects `reader of lists`')
      .and.include('CLICKHOUSE_PASSWORD')
      .and.not.include('not this');
    const gone = proxy.url;
    await proxy.stop();
    const message = await refused('locked', { CLICKHOUSE_URL: gone });
    expect(message).to.include(`Cannot use the ClickHouse at ${new URL(gone).host}: ClickHouse does not respond`);
  });

  describe('on a cluster', () => {
    const cluster = { CLICKHOUSE_CLUSTER: '{cluster}' };
    const replicas = (rows: readonly object[]) => (statement: string) =>
      statement.includes('clusterAllReplicas') ? { rows } : undefined;

    beforeEach(() => {
      // One server stands for the whole cluster.
      proxy.rewrite = (statement) =>
        statement
          .replace("clusterAllReplicas('{cluster}', system.databases)", 'system.databases')
          .replace(" ON CLUSTER '{cluster}'", '')
          .replace('ENGINE = Replicated', 'ENGINE = ');
    });

    it('creates the database on all of it', async () => {
      const running = await start('clustered', cluster);
      await store(running);
      expect(await names(running)).to.deep.equal(['first']);
      await running.stop();
      await start('clustered', cluster);
      expect(created()).to.deep.equal(["CREATE DATABASE IF NOT EXISTS `clustered` ON CLUSTER '{cluster}'"]);
    });

    it('creates it when a replica alone lacks it', async () => {
      await (await start('clustered', cluster)).stop();
      const before = created().length;
      proxy.reply = replicas([
        { host: 'a', version: NEEDED_VERSION, present: 1 },
        { host: 'b', version: NEEDED_VERSION, present: 0 },
      ]);
      await start('clustered', cluster);
      expect(created()).to.have.lengthOf(before + 1);
    });

    it('is refused when a replica is too old', async () => {
      proxy.reply = replicas([
        { host: 'fresh', version: NEEDED_VERSION, present: 0 },
        { host: 'stale', version: '25.8.2.29', present: 0 },
      ]);
      expect(await refused('replicated', cluster)).to.include('The ClickHouse at stale has version 25.8.2.29');
      expect(created()).to.deep.equal([]);
    });

    it('starts where replicas may not be asked', async () => {
      proxy.reply = (statement) => (statement.includes('clusterAllReplicas') ? { code: 497 } : undefined);
      await store(await start('unasked', cluster));
    });

    it('says when there is no such cluster, and which rights it takes', async () => {
      proxy.rewrite = (statement) => statement;
      expect(await refused('nowhere', { CLICKHOUSE_CLUSTER: 'absent' })).to.include('has no cluster absent');
      proxy.reply = (statement) => (statement.startsWith('CREATE DATABASE') ? { code: 497 } : undefined);
      proxy.rewrite = (statement) => statement.replace(/clusterAllReplicas\([^)]*\)/, 'system.databases');
      expect(`${await refused('nowhere', cluster)}\n`).to.include(
        "  GRANT ON CLUSTER '{cluster}' CLUSTER ON *.* TO `reader of lists`;\n",
      );
    });
  });
});
