import { expect } from 'chai';
import { neighboursOf, openedFrom, rowsAround } from '../../src/console/model/neighbours.js';

const NEWEST = { sort_by: 'started_at', sort_order: 'desc' };

describe('neighbours in a list', () => {
  const around = (list: string) => {
    const { first, asked } = rowsAround(openedFrom(list)!);
    return [first, Object.fromEntries(asked)];
  };

  it('are asked for as the list was, around the page that was left', () => {
    expect(openedFrom(null) ?? openedFrom('sessions?x=1')).to.equal(null);
    expect(around('traces?status=error&range=7d&columns=a&offset=300')).to.deep.equal([
      200,
      { status: 'error', started_after: '7d', ...NEWEST, offset: '200', limit: '500', fields: 'id' },
    ]);
    expect(around('spans?trace_id=a')).to.deep.equal([
      0,
      { trace_id: 'a', ...NEWEST, limit: '500', fields: 'id,trace_id' },
    ]);
    expect(around('traces?sort_by=cost&sort_order=asc')[1]).to.include({ sort_by: 'cost', sort_order: 'asc' });
    expect(around('traces')[1]).to.include({ started_after: '24h' });
  });

  it('are the rows before and behind, of a span in its trace', () => {
    const traces = ['a', 'b', 'c'].map((id) => ({ id }));
    expect(neighboursOf(traces, 200, { trace: 'b', span: null })).to.deep.equal({
      place: 202,
      previous: { id: 'a' },
      next: { id: 'c' },
    });
    expect(neighboursOf(traces, 0, { trace: 'c', span: 'x' })).to.include({ place: 3, next: null });
    expect(neighboursOf(traces, 0, { trace: 'z', span: null }).place).to.equal(null);
    const spans = ['1', '2'].map((trace_id) => ({ id: 's', trace_id }));
    expect(neighboursOf(spans, 0, { trace: '2', span: 's' })).to.deep.include({ place: 2, previous: spans[0] });
  });
});
