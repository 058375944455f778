import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { figuresAt } from '../../src/engine/traces/backup/figures.js';
import { sql } from '../../src/engine/traces/clickhouse/client/sql.js';
import { storedSpan } from '../harness/span.js';
import { type OpenedStore, openStore } from '../harness/trace-store.js';

describe('figures that a restore is compared by', function () {
  this.timeout(30_000);
  let opened: OpenedStore;
  before(async () => {
    opened = await openStore();
  });
  after(() => opened.dispose());

  it('are the same however many rows are counted at once', async () => {
    const { client, store } = opened;
    const projectId = randomUUID();
    const costs = [0.1, 0.25, 0, 3, 0.000000000001, null];
    for (let trace = 0; trace < 20; trace += 1) {
      const trace_id = randomUUID();
      const spans = costs.slice(trace % 3).map((cost) => storedSpan({ trace_id, cost }));
      await store.log.append({ projectId, spans });
      // Written again: the last one counts.
      const [first] = spans;
      if (trace % 4 === 0) await store.log.append({ projectId, spans: [{ ...first!, cost: 2, status: 'error' }] });
    }
    await store.rollUp();
    const upTo = Number.MAX_SAFE_INTEGER;
    const [figures, ...others] = await figuresAt(client, upTo);
    expect(others).to.deep.equal([]);
    expect(figures).to.include({ project_id: projectId, spans: 101, errors: 5 });
    expect(figures?.cost).to.match(/^\d+\.\d*[1-9]$/);
    // As ClickHouse itself adds them up, and writes the sum.
    const [{ cost } = { cost: '' }] = await client.query<{ cost: string }>(
      sql`SELECT toString(sum(ifNull(cost, 0))) AS cost FROM (SELECT argMax(cost, ver) AS cost FROM facts GROUP BY trace_id, id)`,
    );
    expect(figures?.cost).to.equal(cost);
    for (const rowsAtOnce of [1, 7, 50, 1_000])
      expect(await figuresAt(client, upTo, rowsAtOnce), String(rowsAtOnce)).to.deep.equal([figures]);
  });
});
