import {
  agreementText,
  detectableText,
  differenceWithInterval,
  noiseText,
  valueText,
} from '../../../../features/comparisons/words.js';
import type { ComparedMetric } from '../../../model/forest.js';
import { count, counted, NOTHING } from '../../../model/format.js';
import { useMetricText } from './metric-text.js';
import { DataTable, type Column } from '../../parts/data-table.js';

type Slice = ComparedMetric['slices'][number];

interface MetricDetailProps {
  readonly metric: ComparedMetric;
  /** What stands above already. */
  readonly said: readonly string[];
}

/** What was found of the metric that is shown, also by slices and categories. */
export function MetricDetail({ metric, said }: MetricDetailProps) {
  const { name, because, rows, rows_for_margin: needed, moves, slices, left_out, judge, noise } = metric;
  const written = useMetricText();
  const isSaid = said.some((sentence) => sentence.startsWith(because));
  return (
    <section class="stack" aria-label={`Metric ${written(name)}`}>
      <h2>
        <bdi>{written(name)}</bdi>
      </h2>
      <p>
        {!isSaid && <bdi>{written(because)}</bdi>} {!isSaid && detectableText(metric)}{' '}
        {needed !== null && needed > rows && `About ${counted(needed, 'row')} would show the margin. `}
        {left_out.no_value > 0 && `${counted(left_out.no_value, 'row')} left out without a value. `}
        {left_out.error > 0 && `${counted(left_out.error, 'row')} left out for an error. `}
        {(left_out.too_large ?? 0) > 0 &&
          `${counted(left_out.too_large ?? 0, 'row')} left out for a value beyond 1e100. `}
        {judge != null && <bdi>{agreementText(judge)}</bdi>}{' '}
        {noise != null && noiseText(metric, noise, metric.difference?.relative ?? false)}
      </p>
      {moves !== null && moves.length > 0 && (
        <ul class="chips" aria-label="Rows whose category changed">
          {moves.map(({ from, to, rows: moved }) => (
            <li key={`${from} ${to}`} class="badge">
              <bdi class="clip">{from}</bdi> → <bdi class="clip">{to}</bdi> {count(moved)}
            </li>
          ))}
        </ul>
      )}
      {slices.length > 0 && (
        <DataTable
          caption={`Slices of ${written(name)}`}
          columns={slicesOf(metric)}
          rows={slices}
          idOf={({ column, value }) => `${column} ${value}`}
        />
      )}
    </section>
  );
}

function slicesOf(metric: ComparedMetric): Column<Slice>[] {
  const figure = (name: 'rows' | 'wins' | 'losses', label: string): Column<Slice> => ({
    ...{ name, label, named: true, figure: true },
    cell: (slice) => count(slice[name]),
  });
  return [
    {
      name: 'slice',
      label: 'Slice',
      cell: ({ column, value }) => (
        <bdi>
          {column} = {value}
        </bdi>
      ),
      full: ({ column, value }) => `${column} = ${value}`,
    },
    figure('rows', 'Rows'),
    ...(['baseline', 'candidate'] as const).map((side): Column<Slice> => ({
      name: side,
      label: side === 'baseline' ? 'Baseline' : 'Candidate',
      named: true,
      figure: true,
      cell: (slice) => (slice[side] === null ? NOTHING : valueText(metric, slice[side])),
    })),
    {
      name: 'difference',
      label: 'Difference',
      cell: ({ difference }) => (difference === null ? NOTHING : differenceWithInterval(metric, difference)),
    },
    figure('wins', 'Wins'),
    figure('losses', 'Losses'),
  ];
}
