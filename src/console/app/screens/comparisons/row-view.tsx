import type { ComparedMetric } from '../../../model/forest.js';
import { Cells } from '../../parts/cells.js';
import { CopyButton } from '../../parts/copy.js';
import { Dialog } from '../../parts/dialog.js';
import { JsonView } from '../../parts/json-view.js';
import { LongDiff } from '../../parts/long-diff.js';
import { hrefOf, setQuery } from '../../state/location.js';
import type { ComparedRow, Comparison } from './data.js';
import { rowValueText } from './value-text.js';

interface RowViewProps {
  readonly row: ComparedRow;
  readonly comparison: Comparison;
  readonly metric: ComparedMetric;
  /** What the metric is called. */
  readonly name: string;
}

const SIDES = ['baseline', 'candidate'] as const;

/** A row of a comparison: what went in, what should come out, and how both outputs differ. */
export function RowView({ row, comparison, metric, name }: RowViewProps) {
  const { row_id, input_data, expected, baseline, candidate } = row;
  const texts = [baseline, candidate].map(({ output_data, error_message }) => error_message ?? output_data);
  const [before, after] = texts;
  return (
    <Dialog title={`Row ${row_id}`} wide onClose={() => setQuery({ row: null }, { replace: true })}>
      <div class="line apart">
        <dl class="pairs">
          {SIDES.map((side) => (
            <>
              <dt key={side}>{side === 'baseline' ? 'Baseline' : 'Candidate'}</dt>
              <dd class="line">
                <span>
                  <bdi>{name}</bdi>: <b>{rowValueText(metric, row[side].value)}</b>
                </span>
                {row[side].has_error && <span class="badge bad">error</span>}
                <Links side={row[side]} experiment={comparison[side].id} row={row_id} />
              </dd>
            </>
          ))}
        </dl>
        <CopyButton text={row_id} what="Row ID" />
      </div>
      <Columns title="Input" of={input_data} />
      {expected !== null && Object.keys(expected).length > 0 && <Columns title="Expected" of={expected} />}
      <section class="stack">
        <h3>Outputs, from baseline to candidate</h3>
        {before != null && after != null ? (
          before === after ? (
            <>
              <p class="soft">Both are the same.</p>
              <JsonView value={after} label="Output" />
            </>
          ) : (
            <LongDiff before={before} after={after} labels={[comparison.baseline.name, comparison.candidate.name]} />
          )
        ) : (
          SIDES.map((side, index) => (
            <section key={side} class="stack">
              <p class="soft">{side === 'baseline' ? 'Baseline' : 'Candidate'}</p>
              {texts[index] == null ? <p>No result.</p> : <JsonView value={texts[index]} label={`Output of ${side}`} />}
            </section>
          ))
        )}
      </section>
    </Dialog>
  );
}

interface LinksProps {
  readonly side: ComparedRow['candidate'];
  readonly experiment: string;
  readonly row: string;
}

function Links({ side: { trace_id }, experiment, row }: LinksProps) {
  if (trace_id === null) return null;
  return (
    <>
      <a href={hrefOf({ screen: 'traces', id: trace_id })}>Open trace</a>
      <a href={hrefOf({ screen: 'experiments', id: experiment, query: { row } })}>Open result</a>
    </>
  );
}

function Columns({ title, of }: { readonly title: string; readonly of: ComparedRow['input_data'] }) {
  return (
    <section class="stack">
      <h3>{title}</h3>
      {of === null ? <p class="soft">Erased with the span that the row was made of.</p> : <Cells of={of} />}
    </section>
  );
}
