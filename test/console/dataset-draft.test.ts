import { expect } from 'chai';
import { cellText, differingColumns, editedCell, mistakeIn, rowOf } from '../../src/console/model/dataset-cells.js';
import {
  changesIn,
  columnsWith,
  emptyDraft,
  mergeOf,
  rowsWith,
  withAdded,
  withChanged,
  withoutAdded,
  withRemoved,
} from '../../src/console/model/dataset-draft.js';

const ROWS = ['a', 'b', 'c'].map((row_id) => ({ row_id, data: { q: row_id, n: 1 }, source: null }));
const STORED = ROWS[0]?.data ?? { q: '', n: 0 };

describe('draft of a dataset', () => {
  it('is saved as what differs from the version that it changes', () => {
    let draft = withChanged(emptyDraft(4), 'a', { q: 'A', n: 1 }, STORED);
    draft = withAdded(draft, null, { row_id: null, data: { q: 'new' } });
    draft = withAdded(draft, null, { row_id: 'd', data: { q: 'named' } });
    draft = withAdded(draft, 1, { row_id: null, data: { q: 'newer' } });
    draft = withRemoved(draft, 'b', true);
    expect(changesIn(draft)).to.equal(4);
    expect(mergeOf(draft, 'why')).to.deep.equal({
      mode: 'merge',
      base_version: 4,
      message: 'why',
      rows: [{ row_id: 'a', q: 'A', n: 1 }, { q: 'newer' }, { row_id: 'd', q: 'named' }],
      remove: ['b'],
    });
    expect(rowsWith(draft, ROWS).map(({ state, data }) => [state, data['q']])).to.deep.equal([
      ['changed', 'A'],
      ['removed', 'b'],
      ['same', 'c'],
      ['added', 'newer'],
      ['added', 'named'],
    ]);
  });

  it('has nothing left of what was undone', () => {
    let draft = withChanged(emptyDraft(1), 'a', { n: 2, q: 'a' }, STORED);
    draft = withChanged(draft, 'a', { n: 1, q: 'a' }, STORED);
    draft = withoutAdded(withAdded(draft, null, { row_id: null, data: {} }), 1);
    draft = withRemoved(withRemoved(draft, 'b', true), 'b', false);
    expect(draft).to.deep.equal(emptyDraft(1));
    // Who removes a row, takes its changes with it.
    const removed = withRemoved(withChanged(draft, 'a', { q: 'A' }, STORED), 'a', true);
    expect(changesIn(removed)).to.equal(1);
  });

  it('brings columns of its rows, behind those of the version', () => {
    const draft = withAdded(emptyDraft(1), null, { row_id: null, data: { extra: 1, q: 'x' } });
    expect(columnsWith(['q', 'n'], draft)).to.deep.equal(['q', 'n', 'extra']);
  });
});

describe('cells of a dataset', () => {
  it('keep the types of their values when they are edited', () => {
    const data = { text: '5', number: 5, list: [1, { a: null }], nothing: null };
    const columns = [...Object.keys(data), 'absent', '__proto__'];
    const cells = columns.map((column) => editedCell(data, column));
    expect(cells.map(({ kind }) => kind)).to.deep.equal(['text', 'json', 'json', 'json', 'none', 'none']);
    expect(rowOf(cells)).to.deep.equal(data);
  });

  it('say what is wrong with JSON', () => {
    expect(mistakeIn({ column: 'a', kind: 'json', text: '{"a":' })).to.match(/^Not valid JSON: /);
    expect(mistakeIn({ column: 'a', kind: 'text', text: '{"a":' })).to.equal(null);
  });

  it('are cut to one line', () => {
    expect(cellText('x'.repeat(5_000))).to.have.length(201);
    expect(cellText({ a: [1] })).to.equal('{"a":[1]}');
    expect(cellText(undefined)).to.equal('');
  });

  it('differ also by their types, and by whether they are there', () => {
    expect(differingColumns({ a: 1, b: 'x', c: null, d: [1] }, { d: [1], a: '1', b: 'x' })).to.deep.equal(['a', 'c']);
  });
});
