import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import type { ClickHouseClient } from '../../src/engine/traces/clickhouse/client/client.js';
import { InsertError } from '../../src/engine/traces/clickhouse/client/client-errors.js';
import { sql, value } from '../../src/engine/traces/clickhouse/client/sql.js';
import { spanList } from '../../src/engine/traces/model/list/definitions.js';
import type { TraceStore } from '../../src/engine/traces/trace-store.js';
import { parseListQuery } from '../../src/http/list-query.js';
import { storedSpan } from '../harness/span.js';
import { openStore, reopenStore, rowsOf, withInsert, type OpenedStore } from '../harness/trace-store.js';

const PROJECT = randomUUID();
const EXPERIMENT = randomUUID();
const marked = (row_id: string) =>
  storedSpan({ attributes: { spanhouse: { experiment: { id: EXPERIMENT, row_id } } }, output_data: row_id });

describe('results of experiments after a crash', () => {
  let opened: OpenedStore;
  let directory: string;

  beforeEach(async () => {
    opened = await openStore({ log: null });
    await opened.store.close();
    directory = await mkdtemp(join(tmpdir(), 'spanhouse-log-'));
  });
  afterEach(async () => {
    await opened.dispose();
    await rm(directory, { recursive: true, force: true });
  });

  const open = (client: ClickHouseClient) => reopenStore(client, { log: { directory, store: 'test' } });
  /** ClickHouse is away, and may have stored the rows all the same. */
  const away = (stores: boolean) =>
    withInsert(opened.client, async (...given) => {
      if (stores) await opened.client.insert(...given);
      throw new InsertError('unavailable', 'lost', { outcome: 'unknown', unreadable: false }, {});
    });
  const rows = async ({ results }: TraceStore) => {
    const query = { repetition: null, rowIds: null, hasError: null, limit: 10, offset: 0, count: true };
    const page = await results.page(PROJECT, { ...query, experimentId: EXPERIMENT });
    return { rows: page.results.map(({ row_id }) => row_id), total: page.total };
  };
  const listed = async ({ lists }: TraceStore) => {
    const query = parseListQuery(spanList, new URLSearchParams('fields=name'));
    return (await rowsOf<{ name: string }>(await lists.spans(PROJECT, query))).map(({ name }) => name);
  };
  const plain = { ...storedSpan(), name: 'plain' };

  for (const stores of [false, true])
    it(`are there once, as the log has them${stores ? ', and ClickHouse too' : ''}`, async () => {
      const first = await open(away(stores));
      await first.log.append({ projectId: PROJECT, spans: [marked('a'), plain, marked('b')] });
      await first.close();
      const second = await open(opened.client);
      expect(await rows(second)).to.deep.equal({ rows: ['a', 'b'], total: 2 });
      expect(await listed(second)).to.deep.equal(['plain']);
      await second.close();
    });

  it('are found again where the index lacks them, and not where it has too many', async () => {
    const first = await open(opened.client);
    await first.log.append({ projectId: PROJECT, spans: [marked('a'), marked('b')] });
    await first.rollUp();
    await first.close();
    await opened.client.command(sql`TRUNCATE TABLE rolled_up`);
    const only = sql`row_id = 'a' AND project_id = ${value(PROJECT, 'String')}`;
    await opened.client.command(sql`DELETE FROM experiment_spans WHERE row_id = 'a'`);
    await opened.client.command(
      sql`INSERT INTO experiment_spans SELECT * REPLACE (ver - 1000 AS ver, 'c' AS row_id) FROM experiment_spans WHERE row_id = 'b'`,
    );
    const second = await open(opened.client);
    expect(await rows(second)).to.deep.equal({ rows: ['a', 'b'], total: 2 });
    expect(await opened.client.query(sql`SELECT 1 FROM experiment_spans WHERE ${only}`)).to.have.length(1);
    await second.close();
  });
});
