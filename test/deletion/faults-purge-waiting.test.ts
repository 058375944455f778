import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { spanList } from '../../src/engine/traces/model/list/definitions.js';
import { parseListQuery } from '../../src/http/list-query.js';
import type { ClickHouseClient } from '../../src/engine/traces/clickhouse/client/client.js';
import { deleteRows, mutationsEnded } from '../../src/engine/traces/clickhouse/client/mutations.js';
import { migrate } from '../../src/engine/traces/migrations.js';
import { Purge } from '../../src/engine/traces/rollup/purge.js';
import { readMigrationFiles } from '../../src/engine/files/migration-files.js';
import { schemaDirectory } from '../../src/engine/files/schema-files.js';
import { unhurried } from '../harness/program.js';
import { storedSpan } from '../harness/span.js';
import { openStore, reopenStore, rowsOf, type OpenedStore } from '../harness/trace-store.js';
import { sql } from '../../src/engine/traces/clickhouse/client/sql.js';

const PROJECT = randomUUID();
/** Later than all versions. */
const ALL = 2 ** 52;
/** More than the engine has sessions for commands. */
const AT_ONCE = 4;

/** Nothing rewrites rows of `spans` while its merges are stopped: what was begun does not end. */
describe('while ClickHouse has not rewritten what it was told to', function () {
  this.timeout(30_000);
  let opened: OpenedStore;
  const [trace, id] = [randomUUID(), randomUUID()];

  beforeEach(async () => {
    opened = await openStore();
    await send(1);
    await send(2);
    await opened.client.command(sql`SYSTEM STOP MERGES spans`);
  });
  afterEach(() => opened.dispose());

  /** Sends the one span there is, and rolls it up. */
  async function send(cost: number): Promise<void> {
    await opened.store.log.append({ projectId: PROJECT, spans: [storedSpan({ id, trace_id: trace, cost })] });
    await opened.store.rollUp();
    expect(await costOfTrace()).to.equal(cost);
  }

  async function costOfTrace(): Promise<number | null | undefined> {
    return (await opened.store.lists.tracesById(PROJECT, [trace])).get(trace)?.cost;
  }

  async function spansListed(): Promise<unknown[]> {
    return rowsOf(await opened.store.lists.spans(PROJECT, parseListQuery(spanList, new URLSearchParams())));
  }

  async function mutationsOfSpans(): Promise<number> {
    return (await opened.client.query(sql`SELECT 1 FROM system.mutations WHERE table = 'spans' AND NOT is_done`))
      .length;
  }

  async function begun(): Promise<void> {
    while ((await mutationsOfSpans()) === 0);
  }

  it('purges keep neither commands, nor commits, nor rollups, nor reads waiting', async () => {
    const purges = Array.from({ length: AT_ONCE }, () => opened.store.purge());
    await begun();

    const started = performance.now();
    await Promise.all(Array.from({ length: AT_ONCE }, () => opened.client.command(sql`SYSTEM FLUSH LOGS`)));
    await send(3);
    expect(await spansListed()).to.have.length(1);
    expect(performance.now() - started).to.be.lessThan(unhurried(5_000));
    expect(await mutationsOfSpans()).to.be.greaterThan(0);

    await opened.client.command(sql`SYSTEM START MERGES spans`);
    await Promise.all(purges);
    await opened.store.purge();
    expect(await opened.client.query(sql`SELECT cost FROM spans`)).to.deep.equal([{ cost: 3 }]);
    expect(await opened.client.query(sql`SELECT ver FROM superseded`)).to.deep.equal([]);
  });

  it('closing the store ends a purge at once, and the next start goes on with it', async () => {
    const purge = opened.store.purge();
    const ended = purge.then(String, String);
    await begun();

    const started = performance.now();
    await opened.store.close();
    expect(performance.now() - started).to.be.lessThan(unhurried(2_000));
    expect(await ended).to.contain('The server is stopping');
    expect(await opened.client.query(sql`SELECT ver FROM superseded`)).to.have.length(1);

    opened = { ...opened, store: await reopenStore(opened.client) };
    expect(await costOfTrace()).to.equal(2);
    await opened.client.command(sql`SYSTEM START MERGES spans`);
    expect(await opened.store.purge()).to.equal(1);
    expect(await opened.client.query(sql`SELECT cost FROM spans`)).to.deep.equal([{ cost: 2 }]);
  });

  it('a purge out of patience forgets nothing, tells nobody that it is done, and is not begun twice', async () => {
    const told: unknown[] = [];
    const observer = { purgeFinished: () => told.push('finished'), purgeFailed: () => undefined };
    const follower = (versions: unknown) => told.push(versions);
    const purge = new Purge({
      client: opened.client,
      observer,
      follower,
      oldestRead: () => ALL,
      latest: () => ALL,
      patienceMs: 2_000,
    });
    try {
      for (let attempt = 0; attempt < 2; attempt += 1) {
        const failure: unknown = await purge.run().catch((error: unknown) => error);
        expect(failure).to.include({ kind: 'unavailable' });
        expect((failure as Error).message).to.contain('has not yet rewritten spans');
      }
    } finally {
      await purge.close();
    }
    expect(told).to.deep.equal([]);
    expect(await opened.client.query(sql`SELECT ver FROM superseded`)).to.have.length(1);
    expect(await mutationsOfSpans()).to.equal(1);
    expect(await spansListed()).to.have.length(1);
  });

  it('a migration that rewrites rows occupies no session, and waits until they are rewritten', async () => {
    const files = readMigrationFiles(schemaDirectory('clickhouse'));
    const drop = {
      version: files.length + 1,
      name: 'drop',
      checksum: '',
      sql: 'ALTER TABLE spans DROP COLUMN error_stack',
    };
    let migrated = false;
    const migration = migrate(opened.client, [...files, drop], null).then(() => {
      migrated = true;
    });
    await begun();
    const statements = await opened.client.query(sql`SELECT 1 FROM system.processes WHERE startsWith(query, 'ALTER')`);
    expect(statements).to.deep.equal([]);
    expect(migrated).to.equal(false);

    await opened.client.command(sql`SYSTEM START MERGES spans`);
    await migration;
    expect(await mutationsOfSpans()).to.equal(0);
  });

  it('rows that are stored again while they are deleted are deleted again', async () => {
    const { client } = opened;
    const store = sql`INSERT INTO superseded (project_id, ver, next_ver) VALUES ('of a round', 1, 2)`;
    await client.command(store);
    let deletions = 0;
    const command: ClickHouseClient['command'] = async (statement, options) => {
      await client.command(statement, options);
      if ((deletions += 1) > 1) return;
      await mutationsEnded(client, { table: 'superseded' });
      await client.command(store);
    };
    const watched = new Proxy(client, {
      get: (of, name) =>
        name === 'command'
          ? command
          : typeof of[name as 'query'] === 'function'
            ? of[name as 'query'].bind(of)
            : of[name as 'query'],
    });
    await deleteRows(watched, 'superseded', sql`ver = 1`);
    expect(deletions).to.equal(2);
    expect(await client.query(sql`SELECT ver FROM superseded WHERE ver = 1`)).to.deep.equal([]);
  });
});
