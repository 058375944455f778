import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import type { TraceRead } from '../../src/engine/traces/model/list/fields.js';
import type { ClickHouseClient } from '../../src/engine/traces/clickhouse/client/client.js';
import { openStore, reopenStore, type OpenedStore } from '../harness/trace-store.js';
import { sql } from '../../src/engine/traces/clickhouse/client/sql.js';
import { statementOf } from '../harness/statement.js';

const PROJECT = randomUUID();
/** Some version later than any of an empty store. */
const VERSION = 60_000_000_000_000;

describe('recovery', () => {
  let opened: OpenedStore;

  beforeEach(async () => {
    opened = await openStore();
  });

  afterEach(async () => {
    await opened.dispose();
  });

  it('waits for an insert that a lost connection left running, so that its spans are rolled up', async () => {
    const trace = randomUUID();
    const insert = opened.client.command(
      statementOf(`INSERT INTO \`spans\` (ver, project_id, trace_id, id, name, started_at)
       SELECT ${VERSION} + number, '${PROJECT}', '${trace}', generateUUIDv4(), 'late', now64(6) + sleepEachRow(0.3) FROM numbers(5)`),
    );
    await running(opened.client, 'INSERT INTO `spans`');
    const store = await reopenStore(opened.client);
    const [found] = [...(await store.lists.tracesById(PROJECT, [trace])).values()];
    await insert;
    await store.close();
    expect(found?.span_count).to.equal(5);
  });

  it('removes facts of spans that never got stored, however many', async () => {
    const trace = randomUUID();
    await opened.client.command(
      statementOf(`INSERT INTO facts (ver, project_id, trace_id, id, name, started_at)
       SELECT ${VERSION} + number, '${PROJECT}', '${trace}', generateUUIDv4(), 'orphan', now64(6) FROM numbers(20000)`),
    );
    const store = await reopenStore(opened.client);
    const traces: ReadonlyMap<string, TraceRead> = await store.lists.tracesById(PROJECT, [trace]);
    await store.close();
    expect([...traces.keys()]).to.deep.equal([]);
    expect(await opened.client.query(sql`SELECT ver FROM facts LIMIT 1`)).to.deep.equal([]);
  });

  it('rolls up spans whose facts never got stored', async () => {
    const trace = randomUUID();
    await opened.client.command(sql`DETACH TABLE facts_of_spans`);
    await opened.client.command(
      statementOf(`INSERT INTO spans (ver, project_id, trace_id, id, name, started_at, cost)
       SELECT ${VERSION} + number, '${PROJECT}', '${trace}', generateUUIDv4(), 'half', now64(6), 0.5 FROM numbers(3)`),
    );
    await opened.client.command(sql`ATTACH TABLE facts_of_spans`);
    const store = await reopenStore(opened.client);
    const traces = await store.lists.tracesById(PROJECT, [trace]);
    await store.close();
    expect(traces.get(trace)).to.include({ span_count: 3, cost: 1.5 });
  });
});

async function running(client: ClickHouseClient, start: string): Promise<void> {
  for (;;) {
    const rows = await client.query(statementOf(`SELECT 1 FROM system.processes WHERE startsWith(query, '${start}')`));
    if (rows.length > 0) return;
  }
}
