import { expect } from 'chai';
import { DirtySet } from '../../src/storage/clickhouse/rollup/dirty-set.js';

describe('what waits to be recomputed', () => {
  const filled = (counts: Readonly<Record<string, number>>) => {
    const dirty = new DirtySet();
    let mark = 0;
    for (const [projectId, count] of Object.entries(counts))
      for (let n = 0; n < count; n += 1) dirty.add(projectId, `${n}`, (mark += 1), 100 + mark);
    return dirty;
  };
  const perProject = (items: readonly { readonly projectId: string }[]) => {
    const counts: Record<string, number> = {};
    for (const { projectId } of items) counts[projectId] = (counts[projectId] ?? 0) + 1;
    return counts;
  };

  it('is taken once, the oldest of a project first', () => {
    const dirty = filled({ a: 5 });
    dirty.add('a', '0', 99, 999);
    expect(dirty.size).to.equal(5);
    expect(dirty.take(3).map(({ id }) => id)).to.deep.equal(['0', '1', '2']);
    expect(dirty.take(3).map(({ id }) => id)).to.deep.equal(['3', '4']);
    expect([dirty.size, dirty.oldest(), dirty.oldest('a')]).to.deep.equal([0, undefined, undefined]);
  });

  it('of a project with little is not behind all of one with much', () => {
    const dirty = filled({ flood: 1000, quiet: 2, other: 60 });
    expect(perProject(dirty.take(100))).to.deep.equal({ flood: 49, quiet: 2, other: 49 });
    expect(dirty.size).to.equal(1062 - 100);
  });

  it('is taken first where reads wait for it, yet not it alone', () => {
    const dirty = filled({ flood: 1000, read: 200 });
    expect(perProject(dirty.take(100, new Set(['read', 'clean'])))).to.deep.equal({ read: 87, flood: 13 });
  });

  it('tells since when it waits, of one project and of all', () => {
    const dirty = filled({ a: 2, b: 2 });
    expect(dirty.oldest()).to.deep.equal({ mark: 1, since: 101 });
    expect(dirty.oldest('b')).to.deep.equal({ mark: 3, since: 103 });
    // A repair marks anew what may have changed long ago.
    dirty.add('b', 'repaired', 5, 7);
    expect(dirty.oldest('b')).to.deep.equal({ mark: 3, since: 7 });
    expect(dirty.oldest('a')).to.deep.equal({ mark: 1, since: 101 });
    const taken = dirty.take(4);
    expect(dirty.oldest()).to.deep.equal({ mark: 5, since: 7 });
    dirty.add('a', '0', 6, 200);
    dirty.restore(taken);
    expect(dirty.oldest('a')).to.deep.equal({ mark: 1, since: 101 });
    expect(dirty.size).to.equal(5);
  });
});
