import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import type { ClickHouseClient } from '../../src/engine/traces/clickhouse/client/client.js';
import { storedSpan } from '../harness/span.js';
import { openStore, reopenStore } from '../harness/trace-store.js';
import { sql } from '../../src/engine/traces/clickhouse/client/sql.js';
import { statementOf } from '../harness/statement.js';

/** A client whose purges take their time to write what stays of a trace. */
function slowly(client: ClickHouseClient): ClickHouseClient {
  const command: ClickHouseClient['command'] = (statement, options) =>
    client.command(
      statement.rewritten((text) =>
        text.startsWith('INSERT INTO facts') ? text.replace('WHERE', 'WHERE sleepEachRow(2) = 0 AND') : text,
      ),
      options,
    );
  return new Proxy(client, {
    get: (target, name: keyof ClickHouseClient) => (name === 'command' ? command : target[name].bind(target)),
  });
}

describe('removing a project while it is purged', function () {
  this.timeout(60_000);

  it('leaves nothing behind', async () => {
    const opened = await openStore();
    await opened.store.close();
    const store = await reopenStore(slowly(opened.client));
    try {
      const projectId = randomUUID();
      const span = storedSpan();
      await store.log.append({ projectId, spans: [span] });
      await store.log.append({ projectId, spans: [{ ...span, name: 'again' }] });
      await store.spans.find(projectId, []);
      const running = `SELECT 1 FROM system.processes WHERE startsWith(query, 'INSERT INTO facts')`;
      const purge = store.purge();
      while ((await opened.client.query(statementOf(running))).length === 0);

      await store.deletions.removeProject(projectId, AbortSignal.timeout(20_000));
      await purge;
      expect(await opened.client.query(sql`SELECT ver FROM facts`)).to.deep.equal([]);
    } finally {
      await store.close();
      await opened.dispose();
    }
  });
});
