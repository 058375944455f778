import { cellText, differingColumns, textOf, valueIn } from '../../../model/dataset-cells.js';
import type { RowData } from '../../../model/dataset-draft.js';
import { JsonView } from '../../parts/json-view.js';
import { LongDiff } from '../../parts/long-diff.js';
import type { Diff } from './data.js';

type RowChange = Diff['rows'][number];

const LOOKS = { added: 'good', changed: 'warn', removed: 'bad' } as const;
const [ADDED, REMOVED] = ['added', 'removed'] as const;

interface ChangeShownProps {
  readonly row: RowChange;
  /** What the versions are called. */
  readonly labels: readonly [before: string, after: string];
}

/** What happened to a row: of a changed one the cells that differ, of others the cells. */
export function ChangeShown({ row: { row_id, change, before, after }, labels }: ChangeShownProps) {
  return (
    <>
      <h2 class="line dataset-row">
        <span class={`badge ${LOOKS[change]}`}>{change}</span> <bdi class="clip">{row_id}</bdi>
      </h2>
      {before !== null && after !== null ? (
        differingColumns(before, after).map((column) => (
          <CellChange
            key={column}
            {...{ before, after, column }}
            labels={labels.map((label) => `${column} of ${row_id}, ${label}`) as [string, string]}
          />
        ))
      ) : (
        <Cells data={after ?? before} />
      )}
    </>
  );
}

function Cells({ data }: { readonly data: RowData | null }) {
  if (data === null) return <p class="soft">Erased with the span that it was made of.</p>;
  return (
    <dl class="dataset-cells">
      {Object.keys(data).map((column) => (
        <>
          <dt key={column} class="clip">
            {column}
          </dt>
          <dd class="clip">
            <bdi>{cellText(valueIn(data, column))}</bdi>
          </dd>
        </>
      ))}
    </dl>
  );
}

interface CellChangeProps {
  readonly before: RowData;
  readonly after: RowData;
  readonly column: string;
  readonly labels: readonly [before: string, after: string];
}

function CellChange({ before, after, column, labels }: CellChangeProps) {
  const values = [before, after].map((data) => valueIn(data, column));
  const texts = values.map((value) => textOf(value, 2)) as [string, string];
  const only = values[0] === undefined ? ADDED : values[1] === undefined ? REMOVED : null;
  return (
    <section class="stack" aria-label={column}>
      <p class="soft">
        <bdi>{column}</bdi> {only !== null && <span class={`badge ${LOOKS[only]}`}>{only}</span>}
      </p>
      {only !== null ? (
        <JsonView value={texts[only === ADDED ? 1 : 0]} label={column} />
      ) : texts[0] === texts[1] ? (
        <p class="soft">Only the type of the value differs.</p>
      ) : (
        <LongDiff before={texts[0]} after={texts[1]} labels={labels} />
      )}
    </section>
  );
}
