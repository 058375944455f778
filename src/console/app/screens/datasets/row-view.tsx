import { valueIn, textOf } from '../../../model/dataset-cells.js';
import type { ShownRow } from '../../../model/dataset-draft.js';
import { Button } from '../../parts/button.js';
import { CopyButton } from '../../parts/copy.js';
import { Dialog } from '../../parts/dialog.js';
import { JsonView } from '../../parts/json-view.js';
import { SpanLink } from '../../parts/span-link.js';

interface RowViewProps {
  readonly row: ShownRow;
  readonly columns: readonly string[];
  readonly onClose: () => void;
  /** Absent: it cannot be changed here. */
  readonly onEdit?: () => void;
  /** Absent: it is not stored. */
  readonly onErase?: () => void;
}

/** A row with its whole cells, and where it comes from. */
export function RowView({ row: { row_id, data, source, state }, columns, onClose, onEdit, onErase }: RowViewProps) {
  const shown = columns.filter((column) => valueIn(data, column) !== undefined);
  return (
    <Dialog title={`Row ${row_id ?? ''}`} wide onClose={onClose}>
      <div class="line apart">
        <span>
          {source === null ? (
            <span class="soft">Not made of a span.</span>
          ) : (
            <>
              Made of span <SpanLink id={source.span_id} traceId={source.trace_id} />
            </>
          )}
        </span>
        <div class="line">
          {row_id !== null && <CopyButton text={row_id} what="Row ID" />}
          {onEdit !== undefined && state !== 'removed' && (
            <Button icon="edit" changes onClick={onEdit}>
              Edit row
            </Button>
          )}
          {onErase !== undefined && (
            <Button icon="trash" changes onClick={onErase}>
              Erase row
            </Button>
          )}
        </div>
      </div>
      {shown.map((column) => (
        <section key={column} class="stack">
          <h3>
            <bdi>{column}</bdi>
          </h3>
          <JsonView value={textOf(valueIn(data, column))} label={column} />
        </section>
      ))}
      {shown.length < columns.length && (
        <p class="soft">
          Without a value:{' '}
          {columns
            .filter((column) => !shown.includes(column))
            .slice(0, 50)
            .join(', ')}
        </p>
      )}
    </Dialog>
  );
}
