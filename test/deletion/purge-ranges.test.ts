import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { storedSpan } from '../harness/span.js';
import { type OpenedStore, openStore } from '../harness/trace-store.js';
import { sql } from '../../src/engine/traces/clickhouse/client/sql.js';
import { allOf } from './service.js';

/** More than are named between versions that go by the range that they lie in. */
const MANY = 2_500;

/** Versions that go are told from those between them by a range, or by name where many stay. */
describe('purging versions among others that stay', function () {
  this.timeout(60_000);
  let opened: OpenedStore;
  beforeEach(async () => {
    opened = await openStore();
  });
  afterEach(() => opened.dispose());

  async function stored(): Promise<string[]> {
    const rows = await opened.client.query<{ name: string }>(
      sql`SELECT name FROM spans UNION ALL SELECT concat('fact of ', name) FROM facts WHERE NOT deleted`,
    );
    return rows.map(({ name }) => name).sort();
  }

  for (const [title, others] of [
    ['few', 20],
    ['many', MANY],
  ] as const)
    it(`takes exactly those, with ${title} others between them`, async () => {
      const [mine, theirs] = [randomUUID(), randomUUID()];
      const { log } = opened.store;
      const again = [storedSpan({ name: 'first' }), storedSpan({ name: 'second' })] as const;
      const between = Array.from({ length: others }, () => storedSpan({ name: 'staying' }));
      await log.append({ projectId: mine, spans: [again[0]] });
      await log.append({ projectId: theirs, spans: between });
      await log.append({ projectId: mine, spans: [again[1]] });
      await log.append({ projectId: mine, spans: again.map((span) => ({ ...span, name: 'later' })) });
      // A deleted one among them: what says so stays.
      const [deleted] = between;
      const tombstone = { trace_id: deleted?.trace_id ?? '', rowType: 0, id: deleted?.id ?? '' } as const;
      await opened.store.deletions.writeTombstones(
        theirs,
        [{ kind: 'span', trace_id: tombstone.trace_id, id: tombstone.id, started_at: 0 }],
        null,
      );
      expect(await opened.store.purge()).to.equal(3);
      const staying = [...between.slice(1).map(() => 'staying'), 'later', 'later'];
      expect(await stored()).to.deep.equal([...staying, ...staying.map((name) => `fact of ${name}`)].sort());
      expect(await opened.client.query(sql`SELECT ver FROM superseded`)).to.deep.equal([]);
      expect(await allOf(opened.store.deletions.contents(theirs, [tombstone.trace_id]))).to.deep.equal([]);
    });
});
