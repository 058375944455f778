import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { spanList, traceList } from '../../src/engine/traces/model/list/definitions.js';
import { parseListQuery } from '../../src/http/list-query.js';
import { connect, type ClickHouseClient } from '../../src/engine/traces/clickhouse/client/client.js';
import { DatabaseLease } from '../../src/engine/traces/clickhouse/lease/database-lease.js';
import { FencedClient } from '../../src/engine/traces/clickhouse/lease/fenced-client.js';
import { LastOwner } from '../../src/engine/traces/clickhouse/lease/last-owner.js';
import type { LeaseError } from '../../src/engine/traces/clickhouse/lease/lease-error.js';
import { mutationsEnded } from '../../src/engine/traces/clickhouse/client/mutations.js';
import { WordIndex } from '../../src/engine/traces/search/word-index.js';
import { addressed, type TestEngine } from '../engine/contract/engines.js';
import { storedSpan } from '../harness/span.js';
import { remove, reopenStore, rowsOf } from '../harness/trace-store.js';
import { sql } from '../../src/engine/traces/clickhouse/client/sql.js';
import { statementOf } from '../harness/statement.js';

const PROJECT = randomUUID();
/** Spans that are indexed together. */
const TOGETHER = 8192;

describe('writing under a lease', function () {
  this.timeout(60_000);
  let engine: TestEngine;
  let plain: ClickHouseClient;
  let dataDir: string;
  let lease: DatabaseLease;
  let client: FencedClient;
  let lost: LeaseError[] = [];

  before(async () => {
    engine = await addressed();
    plain = connect(engine.endpoint, { compress: true, settings: { async_insert: 0 } });
  });
  after(async () => {
    await plain.close();
    await engine.stop();
  });
  beforeEach(async () => {
    dataDir = await mkdtemp(join(tmpdir(), 'spanhouse-fenced-'));
    lost = [];
    lease = await DatabaseLease.take({
      client: plain,
      cluster: null,
      serverUuid: null,
      database: 'house',
      ttlMs: 600_000,
      lastOwner: new LastOwner(dataDir),
      observer: { leaseTaken: () => undefined, leaseRenewalFailed: () => undefined, leaseLost: () => undefined },
      onLost: (error) => lost.push(error),
    });
    client = new FencedClient(plain, lease);
  });
  afterEach(async () => {
    await lease.release();
    await plain.command(sql`TRUNCATE TABLE server_lease`);
    await plain.command(sql`DROP TABLE IF EXISTS rows`);
    await rm(dataDir, { recursive: true, force: true });
  });

  const ids = async () => {
    const rows = await plain.query<{ id: number }>(sql`SELECT id FROM rows ORDER BY id`);
    return rows.map(({ id }) => id);
  };
  const three = () => [
    client.insert('rows', ['id'], 'JSONEachRow', Buffer.from('{"id":1}')),
    client.command(sql`INSERT INTO rows (id) VALUES (2)`),
    client.command(sql`INSERT INTO rows SELECT number + 3 FROM numbers(2)`),
  ];
  const takenOver = () =>
    plain.command(
      sql`INSERT INTO server_lease SELECT max(epoch) + 1, generateUUIDv4(), 0, 0, now64(3), now64(3), 'other', 7, 1000 FROM server_lease`,
    );

  it('changes what it is told to', async () => {
    await client.command(sql`CREATE TABLE rows (id UInt64) ENGINE = MergeTree ORDER BY id`);
    await Promise.all(three());
    expect(await ids()).to.deep.equal([1, 2, 3, 4]);
    await client.command(sql`DELETE FROM rows WHERE id = 1 OR id = 3`);
    expect(await ids()).to.deep.equal([2, 4]);
    await client.command(sql`TRUNCATE TABLE rows`);
    expect(await ids()).to.deep.equal([]);
  });

  it('changes nothing once another server has taken the lease over, and says so once', async () => {
    await plain.command(sql`CREATE TABLE rows (id UInt64) ENGINE = MergeTree ORDER BY id`);
    await plain.command(sql`INSERT INTO rows VALUES (9)`);
    await takenOver();
    await client.command(sql`DELETE FROM rows WHERE id = 9`);
    await client.command(sql`TRUNCATE TABLE rows`);
    await mutationsEnded(plain, { table: 'rows' });
    const outcomes = await Promise.allSettled(three());
    for (const outcome of outcomes)
      expect((outcome as PromiseRejectedResult).reason).to.include({ kind: 'unavailable', outcome: 'none' });
    expect(await ids()).to.deep.equal([9]);
    expect(lost.map(({ kind }) => kind)).to.deep.equal(['lost']);
    expect(lost[0]?.message).to.match(/now belongs to another Spanhouse server \(process 7 on other, since 20/);
    expect(await client.ping()).to.equal(false);
  });

  it('carries the trace store: figures, purges, words and deletions', async () => {
    const store = await reopenStore(client);
    const trace_id = randomUUID();
    const spans = Array.from({ length: TOGETHER }, (_, index) =>
      storedSpan({ trace_id, input_data: `word${index % 7}`, started_at: index * 1_000_000, cost: 1 }),
    );
    for (const cost of [1, 2])
      await store.log.append({ projectId: PROJECT, spans: spans.map((span) => ({ ...span, cost })) });
    const [trace] = await rowsOf(await store.lists.traces(PROJECT, parseListQuery(traceList, new URLSearchParams())));
    expect(trace).to.include({ span_count: TOGETHER, cost: 2 * TOGETHER });
    expect(await store.purge()).to.equal(TOGETHER);
    await store.indexWords();
    const words = new WordIndex(client);
    await words.load();
    expect(words.upTo).to.be.above(0);
    const found = await rowsOf(
      await store.lists.spans(PROJECT, parseListQuery(spanList, new URLSearchParams('q=word3&limit=10000'))),
    );
    expect(found).to.have.lengthOf(Math.ceil((TOGETHER - 3) / 7));
    const left = (table: string) =>
      plain.query<{ id: string }>(statementOf(`SELECT 1 FROM ${table} WHERE project_id = '${PROJECT}'`));
    expect(await remove(store, PROJECT, 'span', spans[0]?.id ?? '')).to.equal(true);
    await store.deletions.forgetWords(PROJECT, spans.slice(0, 1), AbortSignal.timeout(60_000));
    expect(await plain.query(sql`SELECT 1 FROM span_words WHERE complete = 1 AND words != ''`)).to.deep.equal([]);
    // One row for each time that the index was written, which it also is by itself.
    expect(await left('span_words')).to.not.be.empty;
    await store.deletions.removeProject(PROJECT, AbortSignal.timeout(60_000));
    for (const table of ['spans', 'facts', 'traces', 'span_words']) expect(await left(table), table).to.deep.equal([]);
    await words.clear();
    await words.load();
    expect(words.upTo).to.equal(0);
    await store.close();
  });
});
