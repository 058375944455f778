import { expect } from 'chai';
import { traceList } from '../../src/engine/traces/model/list/definitions.js';
import { linesOf, measuredScores, splitsOf } from '../../src/console/model/score-chart.js';
import type { StatisticsRead } from '../../src/console/model/statistics.js';

const definition = (name: string, kind: 'numeric' | 'boolean' | 'categorical' | 'text') => ({
  ...{ name, kind, min: null, max: null, categories: null, direction: null, description: null },
  ...{ created_at: '', updated_at: '' },
});
const SCORES = [
  definition('quality', 'numeric'),
  definition('ok', 'boolean'),
  definition('tone', 'categorical'),
  definition('note', 'text'),
];

describe('scores in the chart over a list', () => {
  it('are measured where they have a mean, and split it where they are chosen', () => {
    expect(measuredScores(SCORES)).to.deep.equal([
      ['scores.quality', 'Mean of quality'],
      ['scores.ok', 'Share of ok'],
    ]);
    expect(splitsOf(traceList, SCORES).map(([value]) => value)).to.deep.equal([
      ...['name', 'status', 'has_error', 'tags.user', 'scores.ok', 'scores.tone'],
    ]);
  });

  it('are a line for all, or for each group that has any, with gaps where there are none', () => {
    const figures = (count: number, mean: number | null) => ({
      'scores.quality': { count, mean, min: mean, max: mean, p50: mean, p95: mean, p99: mean },
    });
    const part = (...means: (number | null)[]) => ({
      totals: figures(means.filter((mean) => mean !== null).length, means.find((mean) => mean !== null) ?? null),
      buckets: means.map((mean) => ({ start: '', ...figures(mean === null ? 0 : 1, mean) })),
    });
    const answer = (groups: unknown[], rest: unknown = null) =>
      ({ ...part(0.5, null), groups, rest }) as unknown as StatisticsRead;
    const shown = (read: StatisticsRead) =>
      linesOf(read, 'quality', String).map(({ label, look, values }) => [label, look, values]);
    expect(shown(answer([]))).to.deep.equal([['all: 0.5', '1', [0.5, null]]]);
    expect(
      shown(
        answer(
          [
            { value: true, ...part(1, 0.5) },
            { value: null, ...part(null, 0.2) },
            { value: '', ...part(null, null) },
          ],
          part(0.1, 0.1),
        ),
      ),
    ).to.deep.equal([
      ['yes: 1', '1', [1, 0.5]],
      ['none: 0.2', '2', [null, 0.2]],
      ['all others: 0.1', 'count', [0.1, 0.1]],
    ]);
  });
});
