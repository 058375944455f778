import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { connect, type InsertError } from '../../src/engine/traces/clickhouse/client/client.js';
import { sql } from '../../src/engine/traces/clickhouse/client/sql.js';

describe('the client of ClickHouse', () => {
  it('takes a socket that is not there for an engine that starts anew: nothing was stored, and it is worth a retry', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'spanhouse-test-'));
    const client = connect({
      ...{ url: 'http://localhost', username: 'nobody', password: '', database: 'none' },
      socketPath: join(directory, 'engine.sock'),
    });
    try {
      const [read, insert] = await Promise.allSettled([
        client.query(sql`SELECT 1`),
        client.insert('spans', ['ver'], 'RowBinary', Buffer.alloc(8)),
      ]);
      expect((read as PromiseRejectedResult).reason).to.include({ kind: 'unavailable' });
      // The settings of inserts are asked for first; that is where it fails, and nothing is stored either.
      expect((insert as PromiseRejectedResult).reason as InsertError).to.include({
        kind: 'unavailable',
        outcome: 'none',
      });
    } finally {
      await client.close();
      rmSync(directory, { recursive: true });
    }
  });
});
