import { expect } from 'chai';
import { drawingsOf, figuresOf, questionOf, type Chart } from '../../src/console/model/dashboard.js';
import type { FiguresRead, StatisticsRead } from '../../src/console/model/statistics.js';

const CHART: Chart = {
  ...{ title: 'Cost', list: 'spans', query: 'span_kind=llm', measures: ['count', 'errors'] },
  ...{ group_by: null, bucket: '1h', kind: 'bars' },
};
const WEEK = { range: '7d', from: null, to: null };
const start = '2026-01-31T10:00:00.000000Z';
const percentiles = { p50: 1, p95: 5, p99: 9 };
const FIGURES: FiguresRead = {
  count: 5,
  error_count: 2,
  cost: 3,
  duration_ms: percentiles,
  tokens: { input: 1, output: 2 },
};
const FOUND: StatisticsRead = {
  ...{ from: start, to: start, bucket_seconds: 3600, totals: FIGURES, buckets: [{ start, ...FIGURES }], rest: null },
  groups: [],
};
const asked = (chart: Partial<Chart>, range = WEEK) =>
  Object.fromEntries(questionOf({ ...CHART, ...chart }, range, 'UTC'));
const drawn = (chart: Partial<Chart>, found = FOUND) => drawingsOf({ ...CHART, ...chart }, found);

describe('charts of a dashboard', () => {
  it('ask for what they draw', () => {
    const own = { span_kind: 'llm', started_after: '7d', measures: 'count,errors', time_zone: 'UTC' };
    expect(asked({})).to.deep.equal({ ...own, bucket: '1h' });
    expect(asked({ bucket: null, group_by: 'model' })).to.deep.equal({ ...own, group_by: 'model' });
    expect(asked({ kind: 'number', group_by: 'model' })).to.deep.equal({ ...own, bucket: '3650d' });
    expect(asked({ bucket: '1m' }), 'more buckets than there may be').to.deep.equal(own);
    expect(asked({ measures: ['scores.a,b'] })['measures']).to.equal('scores.a%2Cb');
    const between = { range: null, from: '2026-01-01', to: '2026-01-02' } as unknown as typeof WEEK;
    expect(asked({}, between)).to.include({ started_after: '2026-01-01', started_before: '2026-01-02' });
  });

  it('draw each measure on its own scale, and errors as a part of all', () => {
    const [split, ...none] = drawn({});
    expect(none).to.deep.equal([]);
    expect(split?.series.map(({ label, values }) => [label, values])).to.deep.equal([
      ['without errors', [3]],
      ['with errors', [2]],
    ]);
    const kinds = drawn({ measures: ['cost', 'duration', 'scores.level'] });
    expect(kinds.map(({ label, kind }) => [label, kind])).to.deep.equal([
      ['Cost', 'bars'],
      ['Duration', 'lines'],
      ['Mean of level', 'lines'],
    ]);
    expect(kinds[1]?.series.map(({ values }) => values)).to.deep.equal([[1], [5]]);
    const group = (value: string) => ({ value, last_started_at: start, totals: FIGURES, buckets: FOUND.buckets });
    const grouped = { ...FOUND, groups: [group('a'), group('b')], rest: FOUND };
    const [byGroup] = drawn({ measures: ['duration'], group_by: 'model' }, grouped);
    expect([byGroup?.label, ...(byGroup?.series ?? []).map(({ label }) => label)]).to.deep.equal([
      'Duration (p95)',
      'a',
      'b',
      'all others',
    ]);
    expect(figuresOf({ list: 'spans', measures: ['count', 'tokens'] }).map(({ label }) => label)).to.deep.equal([
      'count',
      'input tokens',
      'output tokens',
    ]);
  });
});
