import { expect } from 'chai';
import { connect, type ClickHouseClient } from '../../../src/engine/traces/clickhouse/client/client.js';
import { rowBinary, failure } from './contract.js';
import { supervised, type TestEngine } from './engines.js';
import { sql } from '../../../src/engine/traces/clickhouse/client/sql.js';
import { statementOf } from '../../harness/statement.js';

/** More than the embedded engine takes in one request. */
const TOO_LARGE = 257 * 1024 * 1024;

describe('what the embedded engine refuses before it runs anything', () => {
  let engine: TestEngine;
  let client: ClickHouseClient;

  before(async () => {
    engine = await supervised();
    client = connect(engine.endpoint);
    await client.command(sql`CREATE TABLE rows (id UInt64, t String) ENGINE = MergeTree ORDER BY id`);
  });
  after(async () => {
    await client.close();
    await engine.stop();
  });

  const insert = (rows: Buffer, settings: Record<string, string | number> = {}) =>
    client.insert('rows', ['id', 't'], 'RowBinary', rows, { settings });
  const count = () => client.query(sql`SELECT count() AS n FROM rows`);

  it('is certain to have stored nothing: a body too large, again and again on the same connection', async () => {
    const rows = Buffer.alloc(TOO_LARGE);
    for (let time = 0; time < 3; time += 1)
      expect(await failure(insert(rows))).to.include({ kind: 'unavailable', outcome: 'none', unreadable: false });
    expect(await count()).to.deep.equal([{ n: 0 }]);
  });

  it('is certain to have stored nothing: a request it does not serve', async () => {
    expect(await failure(insert(rowBinary(1, 'a'), { session_id: 'mine' }))).to.include({ outcome: 'none' });
    expect(await count()).to.deep.equal([{ n: 0 }]);
  });

  it('and only that: what fails under way may have stored rows, whatever its code is', async () => {
    await client.command(sql`CREATE TABLE kept (id UInt64) ENGINE = MergeTree ORDER BY id`);
    await client.command(
      statementOf(
        "CREATE MATERIALIZED VIEW picky TO kept AS SELECT id FROM rows WHERE throwIf(t = 'bad', 'no', 307::Int32) = 0 " +
          'SETTINGS allow_custom_error_code_in_throwif = 1',
      ),
    );
    try {
      const error = await failure(insert(rowBinary(1, 'bad'), { allow_custom_error_code_in_throwif: 1 }));
      expect(error).to.include({ outcome: 'unknown' });
      expect((error as Error).cause).to.include({ code: '307' });
    } finally {
      await client.command(sql`DROP TABLE picky`);
      await client.command(sql`DROP TABLE kept`);
    }
  });
});
