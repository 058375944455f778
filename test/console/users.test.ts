import { expect } from 'chai';
import { MAX_GROUPS } from '../../src/engine/traces/model/list/statistics.js';
import { batchesOf, figuresByUser, sortedUsers, sortNamed } from '../../src/console/model/users.js';

describe('users in the console', () => {
  it('are asked for by as many at once as there are groups, in addresses of bounded length', () => {
    const users = Array.from({ length: 20 }, (_, index) => `user ${index}`);
    const batches = batchesOf(users);
    expect(batches.map(({ length }) => length)).to.deep.equal([MAX_GROUPS, MAX_GROUPS, 4]);
    expect(batches.flat()).to.deep.equal(users);
    const long = ['a', 'é'.repeat(500), 'ü'.repeat(500), 'b', 'x'.repeat(10_000), 'c'];
    expect(batchesOf(long)).to.deep.equal([long.slice(0, 2), long.slice(2, 4), ['x'.repeat(10_000)], ['c']]);
    expect(batchesOf([])).to.deep.equal([]);
  });

  it('have the figures of the groups of their tag, in which nothing known is not 0', () => {
    const totals = { count: 3, error_count: 1, cost: null, tokens: { input: null, output: 7 } };
    const figures = figuresByUser([{ value: 'ann', last_started_at: '2026-01-01T00:00:00Z', totals }]);
    expect(figures.get('ann')).to.deep.equal({
      traces: 3,
      errors: 1,
      cost: null,
      tokens: 7,
      last: '2026-01-01T00:00:00Z',
    });
  });

  it('are sorted by each figure, those without it last either way', () => {
    const row = (user: string, traces: number, cost: number | null, last: string | null = null) => ({
      user,
      traces,
      figures: { traces, errors: 0, cost, tokens: null, last },
    });
    const rows = [
      row('a', 3, 0.5, '2026-01-01'),
      row('b', 2, null),
      row('c', 1, 2, '2026-01-02'),
      { user: 'd', traces: 4, figures: undefined },
    ];
    const order = (...[by, descending]: [Parameters<typeof sortedUsers>[1], boolean]) =>
      sortedUsers(rows, by, descending)
        .map(({ user }) => user)
        .join('');
    expect(order('traces', true)).to.equal('dabc');
    expect(order('traces', false)).to.equal('cbad');
    expect(order('cost', true)).to.equal('cabd');
    expect(order('cost', false)).to.equal('acbd');
    expect(order('last', true)).to.equal('cabd');
    expect([sortNamed('cost'), sortNamed('constructor'), sortNamed(null)]).to.deep.equal(['cost', 'traces', 'traces']);
  });
});
