import type { RowOutcome } from '../../../../features/comparisons/row-schema.js';
import { cellText, textOf } from '../../../model/dataset-cells.js';
import type { ComparedMetric } from '../../../model/forest.js';
import { count, NOTHING } from '../../../model/format.js';
import { CopyAsCurl } from '../../parts/copy.js';
import { DataTable, type Column } from '../../parts/data-table.js';
import { Pager } from '../../parts/pager.js';
import { Answered, Empty } from '../../parts/states.js';
import { hrefWith, place } from '../../state/location.js';
import { offsetAsked } from '../prompts/asked.js';
import { pathOfComparison, useComparedRows, type ComparedRow, type Comparison } from './data.js';
import { useMetricText } from './metric-text.js';
import { RowView } from './row-view.js';
import { rowValueText } from './value-text.js';

const PAGE = 20;
const LABELS: Readonly<Record<RowOutcome, string>> = {
  win: 'Wins',
  loss: 'Losses',
  tie: 'Ties',
  error: 'Errors',
  left_out: 'Left out',
};

const OUTCOMES = Object.keys(LABELS) as RowOutcome[];

interface ComparedRowsProps {
  readonly comparison: Comparison;
  readonly metric: ComparedMetric;
}

/** The rows by what became of them, those that changed most first. */
export function ComparedRows({ comparison, metric }: ComparedRowsProps) {
  const { query } = place.value;
  const outcome = OUTCOMES.find((one) => one === query.get('outcome')) ?? 'loss';
  const offset = offsetAsked();
  const asked = { metric: metric.name, outcome, limit: PAGE, offset };
  const answer = useComparedRows(comparison.id, asked);
  const name = useMetricText()(metric.name);
  const opened = answer.data?.rows.find(({ row_id }) => row_id === query.get('row'));
  return (
    <section class="stack many-columns" aria-label="Rows">
      <div class="line apart">
        <Outcomes comparison={comparison} metric={metric} chosen={outcome} />
        <CopyAsCurl path={pathOfComparison(comparison.id, '/rows')} query={asked} />
      </div>
      <Answered answer={answer}>
        {({ rows, total }) => (
          <>
            {rows.length === 0 ? (
              <Empty title="No such rows">
                {outcome !== 'loss'
                  ? 'Choose others above.'
                  : metric.measure === 'category'
                    ? 'No row changed its category.'
                    : 'No row became worse.'}
              </Empty>
            ) : (
              <DataTable
                caption={LABELS[outcome]}
                columns={columnsFor(metric, outcome, name)}
                rows={rows}
                idOf={({ row_id }) => row_id}
                hrefOf={({ row_id }) => hrefWith({ row: row_id })}
              />
            )}
            <Pager offset={offset} limit={PAGE} shown={rows.length} total={total} />
          </>
        )}
      </Answered>
      {opened !== undefined && <RowView row={opened} comparison={comparison} metric={metric} name={name} />}
    </section>
  );
}

interface OutcomesProps extends ComparedRowsProps {
  readonly chosen: RowOutcome;
}

/** What became of rows, with how many there are, each of which shows its rows. */
function Outcomes({ comparison, metric, chosen }: OutcomesProps) {
  const { wins, losses, ties, left_out } = metric;
  const others = Object.values(comparison.left_out).reduce((sum, rows) => sum + rows, 0);
  const counts: Readonly<Record<RowOutcome, number | null>> = {
    win: wins,
    loss: losses,
    tie: ties,
    error: null,
    left_out: others + left_out.no_value + left_out.error + (left_out.too_large ?? 0),
  };
  const isMoved = metric.measure === 'category';
  return (
    <nav class="chips" aria-label="Rows by outcome">
      {OUTCOMES.filter((outcome) => !isMoved || outcome !== 'win').map((outcome) => (
        <a
          key={outcome}
          class={`chip${outcome === chosen ? ' is-chosen' : ''}`}
          href={hrefWith({ outcome, offset: null, row: null })}
          {...(outcome === chosen && { 'aria-current': 'true' as const })}
        >
          {isMoved && outcome === 'loss' ? 'Moved' : LABELS[outcome]}
          {counts[outcome] !== null && (
            <b>{count(isMoved && outcome === 'loss' ? metric.rows - ties : counts[outcome])}</b>
          )}
        </a>
      ))}
    </nav>
  );
}

/** What columns say, in one line. */
function lineOf(columns: ComparedRow['input_data']): string {
  const values = Object.values(columns ?? {});
  return columns === null || values.length === 0 ? NOTHING : cellText(values.length === 1 ? values[0] : columns);
}

const REASONS: Readonly<Record<NonNullable<ComparedRow['left_out']>, string>> = {
  missing_in_candidate: 'no result in the candidate',
  missing_in_baseline: 'no result in the baseline',
  missing_in_both: 'no result in either',
  content_differs: 'content differs between versions',
  not_in_both_versions: 'only in one version',
  erased: 'erased',
  no_value: 'no value',
  error: 'error',
  too_large: 'value too large',
};

function columnsFor(metric: ComparedMetric, outcome: RowOutcome, name: string): Column<ComparedRow>[] {
  const output = (side: 'baseline' | 'candidate'): Column<ComparedRow> => ({
    name: `output ${side}`,
    label: side === 'baseline' ? 'Baseline' : 'Candidate',
    named: true,
    cell: (row) => <Output of={row[side]} />,
    full: (row) => cellText(row[side].error_message ?? row[side].output_data ?? ''),
  });
  return [
    { name: 'row', label: 'Row', cell: ({ row_id }) => <bdi>{row_id}</bdi>, full: ({ row_id }) => row_id },
    ...(outcome === 'left_out'
      ? [
          {
            name: 'reason',
            label: 'Reason',
            cell: (row: ComparedRow) => (row.left_out === null ? NOTHING : REASONS[row.left_out]),
          },
        ]
      : [
          {
            name: 'change',
            label: name.slice(0, 40),
            cell: (row: ComparedRow) => (
              <bdi>
                {rowValueText(metric, row.baseline.value)} → {rowValueText(metric, row.candidate.value)}
              </bdi>
            ),
          },
        ]),
    {
      name: 'input',
      label: 'Input',
      cell: ({ input_data }) => <bdi>{lineOf(input_data)}</bdi>,
      full: ({ input_data }) => textOf(input_data ?? '').slice(0, 600),
    },
    output('baseline'),
    output('candidate'),
  ];
}

function Output({ of: { output_data, has_error, error_message } }: { readonly of: ComparedRow['candidate'] }) {
  return (
    <>
      {has_error && <span class="badge bad">error</span>} <bdi>{cellText(error_message ?? output_data ?? NOTHING)}</bdi>
    </>
  );
}
