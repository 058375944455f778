import { expect } from 'chai';
import { DirtySet } from '../../src/engine/traces/rollup/dirty-set.js';

describe('what waits to be recomputed', () => {
  const filled = (counts: Readonly<Record<string, number>>) => {
    const dirty = new DirtySet();
    let since = 100;
    for (const [projectId, count] of Object.entries(counts))
      for (let n = 0; n < count; n += 1) dirty.add({ projectId, id: `${n}`, since: (since += 1), last: since });
    return dirty;
  };
  const perProject = (items: readonly { readonly projectId: string }[]) => {
    const counts: Record<string, number> = {};
    for (const { projectId } of items) counts[projectId] = (counts[projectId] ?? 0) + 1;
    return counts;
  };

  it('is taken once, the oldest of a project first', () => {
    const dirty = filled({ a: 5 });
    dirty.add({ projectId: 'a', id: '0', since: 999, last: 999 });
    expect(dirty.size).to.equal(5);
    expect(dirty.take(3).map(({ id }) => id)).to.deep.equal(['0', '1', '2']);
    expect(dirty.take(3).map(({ id }) => id)).to.deep.equal(['3', '4']);
    expect([dirty.size, dirty.since(), dirty.since('a')]).to.deep.equal([0, Infinity, Infinity]);
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
    expect([dirty.since(), dirty.since('b'), dirty.since('c')]).to.deep.equal([101, 103, Infinity]);
    expect(dirty.sinceOf({ projectId: 'b', id: '1' })).to.equal(104);
    // A repair marks anew what may have changed long ago.
    dirty.add({ projectId: 'b', id: 'repaired', since: 7, last: 7 });
    expect([dirty.since(), dirty.since('b'), dirty.since('a')]).to.deep.equal([7, 7, 101]);
    const taken = dirty.take(4);
    expect([dirty.since(), dirty.sinceOf({ projectId: 'b', id: '1' })]).to.deep.equal([7, Infinity]);
    dirty.add({ projectId: 'a', id: '0', since: 200, last: 200 });
    dirty.restore(taken);
    expect([dirty.since('a'), dirty.size]).to.deep.equal([101, 5]);
  });
});
