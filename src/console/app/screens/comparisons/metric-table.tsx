import { armText, differenceText, probabilityText } from '../../../../features/comparisons/words.js';
import { forestOf, type ComparedMetric, type ForestRow } from '../../../model/forest.js';
import { count, NOTHING, percent } from '../../../model/format.js';
import { DataTable, type Column } from '../../parts/data-table.js';
import { hrefWith } from '../../state/location.js';
import { ForestLine } from './forest-line.js';
import { useMetricText } from './metric-text.js';
import { VerdictBadge } from './verdict-badge.js';

interface MetricTableProps {
  readonly metrics: readonly ComparedMetric[];
  readonly confidence: number;
  /** The metric whose rows are shown. */
  readonly shown: string;
}

/** A forest plot whose lines stand in a table that says the same. */
export function MetricTable({ metrics, confidence, shown }: MetricTableProps) {
  const written = useMetricText();
  return (
    <section class="stack" aria-label="Metrics">
      <h2>Metrics</h2>
      <DataTable
        caption="Metrics"
        columns={columnsFor(forestOf(metrics), confidence, { shown, written })}
        rows={metrics}
        idOf={({ name }) => name}
        hrefOf={({ name }) => hrefWith({ metric: name, outcome: null, offset: null, row: null })}
      />
      <p class="soft small">
        Right of the middle is better. The dashed line is the margin: an interval right of it passes. Metrics of one
        unit have one scale.
        {metrics.some(({ noise }) => noise != null) &&
          ' The gray band shows how far two runs of the same subject differed.'}
      </p>
    </section>
  );
}

function columnsFor(
  forest: ReadonlyMap<string, ForestRow>,
  confidence: number,
  { shown, written }: { readonly shown: string; readonly written: (name: string) => string },
): Column<ComparedMetric>[] {
  return [
    {
      name: 'metric',
      label: 'Metric',
      cell: ({ name }) => (name === shown ? <b class="clip">{written(name)}</b> : <bdi>{written(name)}</bdi>),
      full: ({ name }) => written(name),
    },
    { name: 'verdict', label: 'Verdict', cell: ({ verdict }) => <VerdictBadge of={verdict} /> },
    {
      name: 'plot',
      label: 'worse ← → better',
      cell: ({ name, verdict }) => <ForestLine row={forest.get(name)} verdict={verdict} />,
    },
    {
      name: 'difference',
      label: `Difference (${percent(confidence)} interval)`,
      cell: (metric) => <Difference of={metric} />,
    },
    ...(['baseline', 'candidate'] as const).map((side): Column<ComparedMetric> => ({
      name: side,
      label: side === 'baseline' ? 'Baseline' : 'Candidate',
      named: true,
      figure: true,
      cell: (metric) => armText(metric, metric[side]) ?? NOTHING,
    })),
    {
      name: 'changed',
      label: 'Wins / losses',
      named: true,
      figure: true,
      cell: ({ wins, losses }) => `${count(wins)} / ${count(losses)}`,
    },
    {
      name: 'p',
      label: 'p',
      named: true,
      figure: true,
      about: 'How likely so large a difference is by chance; adjusted for the number of rules',
      cell: ({ p, adjusted_p }) => (p === null ? NOTHING : probabilityText(adjusted_p ?? p)),
    },
  ];
}

/** A difference, and its interval below it: beside it there is no room for both. */
function Difference({ of }: { readonly of: ComparedMetric }) {
  if (of.difference === null) return <>{NOTHING}</>;
  const { value, interval, relative } = of.difference;
  const text = (number: number) => differenceText(of, number, relative);
  return (
    <>
      {text(value)}
      {interval !== null && (
        <div class="soft small">
          {text(interval.low)} to {text(interval.high)}
        </div>
      )}
    </>
  );
}
