import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { spanList } from '../../src/engine/traces/model/list/definitions.js';
import type { SpanRead } from '../../src/engine/traces/model/list/fields.js';
import { parseListQuery } from '../../src/http/list-query.js';
import type { TraceStore } from '../../src/engine/traces/trace-store.js';
import { storedSpan } from '../harness/span.js';
import { openStore, remove, reopenStore, rowsOf, type OpenedStore } from '../harness/trace-store.js';
import { sql } from '../../src/engine/traces/clickhouse/client/sql.js';
import { statementOf } from '../harness/statement.js';

const PROJECT = randomUUID();
const ROLLED_UP = [
  'spans',
  'facts',
  'traces',
  'trace_starts',
  'superseded',
  'session_traces',
  'session_statements',
  'sessions',
  'session_starts',
];

describe('rows that are stored twice', () => {
  let opened: OpenedStore;
  let trace: string;
  let session: string;
  let ids: string[];

  beforeEach(async () => {
    opened = await openStore();
    [trace, session] = [randomUUID(), randomUUID()];
    ids = [randomUUID(), randomUUID()];
  });
  afterEach(() => opened.dispose());

  const write = (cost: number) =>
    opened.store.log.append({
      projectId: PROJECT,
      spans: ids.map((id) =>
        storedSpan({ id, trace_id: trace, session_id: session, cost, error_code: 'E', status: 'error' }),
      ),
    });

  async function figures(store: TraceStore): Promise<unknown> {
    const spans = await rowsOf<SpanRead>(
      await store.lists.spans(PROJECT, parseListQuery(spanList, new URLSearchParams())),
    );
    const found = (await store.lists.tracesById(PROJECT, [trace])).get(trace);
    const sessions = (await store.lists.sessionsById(PROJECT, [session])).get(session);
    return {
      spans: spans.map(({ id, cost }) => [id, cost]).sort(),
      trace: [found?.span_count, found?.cost, found?.error_count],
      session: [sessions?.trace_count, sessions?.cost, sessions?.error_count],
    };
  }

  const expected = (cost: number) => ({
    spans: ids.map((id) => [id, cost]).sort(),
    trace: [2, cost * 2, 2],
    session: [1, cost * 2, 2],
  });

  async function superseded(): Promise<number> {
    return (await opened.client.query(sql`SELECT DISTINCT ver FROM superseded`)).length;
  }

  it('a further row of the facts of a version changes no figure, hides no span, and has none purged', async () => {
    await write(1);
    await figures(opened.store);
    await write(2);
    await figures(opened.store);
    await opened.client.command(sql`INSERT INTO facts SELECT * FROM facts`);
    await opened.client.command(sql`INSERT INTO facts SELECT * FROM facts`);
    // Touches the trace.
    await opened.store.log.append({
      projectId: PROJECT,
      spans: [storedSpan({ id: randomUUID(), trace_id: trace, cost: null, name: 'another' })],
    });
    const [another] = await rowsOf<SpanRead>(
      await opened.store.lists.spans(PROJECT, parseListQuery(spanList, new URLSearchParams({ names: 'another' }))),
    );
    await remove(opened.store, PROJECT, 'span', another?.id ?? '');
    expect(await figures(opened.store)).to.deep.equal(expected(2));
    // The two that were replaced, and the one that was deleted.
    expect(await superseded()).to.equal(3);

    expect(await opened.store.purge()).to.equal(3);
    expect(await figures(opened.store)).to.deep.equal(expected(2));
    const again = await reopenStore(opened.client);
    expect(await figures(again)).to.deep.equal(expected(2));
    await again.close();
  });

  it('a version that an earlier release took for its own successor counts again after the next start', async () => {
    await write(1);
    await figures(opened.store);
    await write(2);
    await figures(opened.store);
    // As it was recorded when the newest facts were there twice, and the replaced ones as well.
    await opened.client.command(sql`TRUNCATE TABLE superseded`);
    await opened.client.command(sql`INSERT INTO superseded SELECT project_id, ver, ver FROM facts WHERE row_type = 0`);
    // As a purge that was cut off leaves it.
    await opened.client.command(
      sql`DELETE FROM facts WHERE ver IN (SELECT max(ver) FROM facts) SETTINGS lightweight_deletes_sync = 2`,
    );
    const again = await reopenStore(opened.client);
    expect(await figures(again)).to.deep.equal(expected(2));
    expect(await superseded()).to.equal(2);
    expect(await again.purge()).to.equal(2);
    expect(await figures(again)).to.deep.equal(expected(2));
    await again.close();
  });

  it('equal blocks are not taken for repetitions, whatever the tables say', async () => {
    for (const table of ROLLED_UP)
      await opened.client.command(
        statementOf(`ALTER TABLE ${table} MODIFY SETTING non_replicated_deduplication_window = 1000`),
      );
    const state = (name: string) =>
      opened.store.log.append({ projectId: PROJECT, sessions: [{ id: session, name, attributes: {}, tags: {} }] });
    for (const name of ['first', 'second', 'third']) {
      await state(name);
      // What is sent to recompute the session is the same each time.
      expect((await opened.store.lists.sessionsById(PROJECT, [session])).get(session)?.name).to.equal(name);
    }
    const row = Buffer.from(JSON.stringify([PROJECT, trace, 1]));
    for (let time = 0; time < 2; time += 1)
      await opened.client.insert('facts', ['project_id', 'trace_id', 'ver'], 'JSONCompactEachRow', row);
    expect(await opened.client.query(sql`SELECT ver FROM facts WHERE ver = 1`)).to.have.length(2);
    await opened.client.command(sql`TRUNCATE TABLE traces`);
    const touch = Buffer.from(JSON.stringify([PROJECT, trace, 1, 1]));
    for (let time = 0; time < 2; time += 1) {
      await opened.client.insert(
        'touch_traces',
        ['project_id', 'trace_id', 'upto', 'round'],
        'JSONCompactEachRow',
        touch,
      );
      expect(await opened.client.query(sql`SELECT id FROM traces`)).to.have.length(1);
      await opened.client.command(sql`TRUNCATE TABLE traces`);
    }
  });

  it('no table takes equal blocks for repetitions by itself', async () => {
    const tables = await opened.client.query<{ name: string; windows: string }>(
      sql`SELECT name, arrayStringConcat(extractAll(create_table_query, 'deduplication_window = (\\\\d+)'), ' ') AS windows FROM system.tables
       WHERE database = currentDatabase() AND engine LIKE '%MergeTree' AND name != 'schema_migrations'`,
    );
    expect(tables.map(({ name }) => name)).to.include.members(ROLLED_UP);
    for (const { name, windows } of tables) expect(windows, name).to.equal('0 0');
  });
});
