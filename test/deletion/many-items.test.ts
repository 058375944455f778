import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { SqliteDeletionStore } from '../../src/features/deletion/store/deletion-store.js';
import { JudgeFile } from '../learning/judge-file.js';

const OTHERS = 2_000_000;
const OWN = 25_000;

describe('a deletion beside others with very many items', function () {
  this.timeout(60_000);
  let file: JudgeFile;
  let store: SqliteDeletionStore;
  before(() => {
    file = new JudgeFile();
    store = new SqliteDeletionStore(file.database);
  });
  after(() => {
    file.dispose();
  });

  const begin = () =>
    store.begin({ projectId: 'project', kind: 'trace', id: randomUUID(), upTo: 0, at: 0 }, [], true).seq;
  const note = (deletion: number, count: number, kind: string) =>
    file.database
      .prepare(
        `WITH RECURSIVE many (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM many WHERE n < ?)
         INSERT INTO deletion_items (deletion, kind, trace_id, id, started_at) SELECT ?, ?, 'trace ' || (n / 5), n, 0 FROM many`,
      )
      .run(count, deletion, kind);

  it('finds its traces by portions, in the order of its items, without those', () => {
    const [other, own] = [begin(), begin()];
    note(other, OTHERS, 'span');
    note(own, 5, 'trace');
    note(own, OWN, 'span');
    note(other, 5, 'trace');
    note(own, 5, 'trace');
    const ids = new Set<string>();
    const lasts: number[] = [];
    for (let after: number | null = 0; after !== null;) {
      const portion = store.traces(own, after);
      for (const id of portion.ids) ids.add(id);
      after = portion.last;
      if (after !== null) lasts.push(after - OTHERS);
    }
    expect(ids.size).to.equal(OWN / 5 + 1);
    expect(lasts).to.deep.equal([10_000, 20_000, OWN + 15]);

    const fastest = (after: number) => {
      let least = Infinity;
      for (let call = 0; call < 10; call += 1) {
        const began = performance.now();
        store.traces(own, after);
        least = Math.min(least, performance.now() - began);
      }
      return least;
    };
    expect(fastest(0), 'ms of the first portion').to.be.below(5 * fastest(OTHERS) + 5);
  });
});
