import { expect } from 'chai';
import { recomputedSessions, storedBroughtToSessions } from '../../src/engine/traces/rollup/session-figures.js';
import { recomputedRemovedTraces, recomputedTraces } from '../../src/engine/traces/rollup/trace-figures.js';
import type { Sql } from '../../src/engine/traces/clickhouse/client/sql.js';
import { type OpenedStore, openStore } from '../harness/trace-store.js';
import { statementOf } from '../harness/statement.js';

const VIEWS: Readonly<Record<string, { readonly to: string; readonly definition: Sql }>> = {
  recompute_traces: { to: 'traces_recomputed', definition: recomputedTraces },
  recompute_removed_traces: { to: 'traces_recomputed', definition: recomputedRemovedTraces },
  store_session_traces: { to: 'session_traces', definition: storedBroughtToSessions },
  recompute_sessions: { to: 'sessions', definition: recomputedSessions },
};

describe('figures of traces and sessions', function () {
  this.timeout(30_000);
  let opened: OpenedStore;
  before(async () => {
    opened = await openStore();
  });
  after(() => opened.dispose());

  for (const [view, { to, definition }] of Object.entries(VIEWS))
    it(`are stored by ${view} as lists compute them`, async () => {
      const { client } = opened;
      await client.command(
        statementOf(`CREATE MATERIALIZED VIEW as_defined_${view} TO ${to} AS ${definition.render().text}`),
      );
      const texts = await client.query<{ text: string }>(
        statementOf(
          `SELECT DISTINCT as_select AS text FROM system.tables WHERE database = currentDatabase() AND name IN ('${view}', 'as_defined_${view}')`,
        ),
      );
      await client.command(statementOf(`DROP VIEW as_defined_${view}`));
      expect(texts).to.have.length(1);
    });
});
