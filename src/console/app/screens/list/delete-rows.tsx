import { useRef, useState } from 'preact/hooks';
import type { ListDefinition } from '../../../../engine/traces/model/list/definitions.js';
import { counted, money } from '../../../model/format.js';
import type { ListRow } from '../../../model/list-columns.js';
import { Confirm } from '../../parts/dialog.js';
import { announce } from '../../state/announce.js';
import { ApiError, call } from '../../state/api.js';
import { nameOf } from './cells.js';

interface DeleteRowsProps {
  readonly list: ListDefinition;
  readonly rows: readonly ListRow[];
  readonly onClose: () => void;
  /** When at least some are gone; with those that are not. */
  readonly onDeleted: (failed: readonly string[]) => void;
}

interface Failed {
  readonly row: ListRow;
  readonly why: string;
}

const AT_ONCE = 4;
const NAMED = 8;

/** Asks whether these rows may go, naming them and what goes with them; deletes them, and says which could not be. */
export function DeleteRows({ list, rows, onClose, onDeleted }: DeleteRowsProps) {
  const [done, setDone] = useState<number | null>(null);
  const [failed, setFailed] = useState<readonly Failed[]>([]);
  const stopped = useRef(false);
  const what = list.name.slice(0, -1);
  const close = () => {
    stopped.current = true;
    if (done === null) onClose();
  };
  const start = async () => {
    setDone(0);
    setFailed([]);
    stopped.current = false;
    const failures = await deleteAll(list, rows, {
      stopped: () => stopped.current,
      onDone: () => setDone((n) => (n ?? 0) + 1),
    });
    const gone = rows.length - failures.length;
    announce(`${counted(gone, what)} deleted${failures.length === 0 ? '' : `, ${failures.length} not deleted`}`, {
      bad: failures.length > 0,
    });
    setDone(null);
    setFailed(failures);
    if (failures.length === 0) onClose();
    onDeleted(failures.map(({ row }) => row.id));
  };
  return (
    <Confirm
      title={`Delete ${counted(rows.length, what)}?`}
      action={done === null ? `Delete ${counted(rows.length, what)}` : `Deleting: ${done} of ${rows.length}`}
      busy={done !== null}
      onConfirm={() => void start()}
      onClose={close}
    >
      <p>{whatGoes(list, rows)} This cannot be undone.</p>
      <ul class="named-rows">
        {rows.slice(0, NAMED).map((row) => (
          <li key={row.id} class="clip">
            <bdi>{nameOf(row)}</bdi> <span class="soft mono small">{row.id}</span>
          </li>
        ))}
        {rows.length > NAMED && <li class="soft">and {rows.length - NAMED} more</li>}
      </ul>
      {done !== null && <progress value={done} max={rows.length} aria-label="Deleted" />}
      {failed.length > 0 && (
        <div role="alert" class="state bad-state">
          <h3>{counted(failed.length, what)} could not be deleted</h3>
          <ul>
            {failed.slice(0, NAMED).map(({ row, why }) => (
              <li key={row.id}>
                <bdi>{nameOf(row)}</bdi>: {why}
              </li>
            ))}
          </ul>
        </div>
      )}
    </Confirm>
  );
}

/** What is deleted with the rows, as far as the rows know it. */
function whatGoes({ name }: ListDefinition, rows: readonly ListRow[]): string {
  const sum = (field: string) => rows.reduce((total, row) => total + Number(row[field] ?? 0), 0);
  const cost = sum('cost') > 0 ? ` and ${money(sum('cost'))} of known cost` : '';
  const below = {
    spans: 'Their texts, images, scores, evaluations and feedback are deleted too; child spans are kept.',
    traces: `${counted(sum('span_count'), 'span')}${cost} are deleted too, with images, scores, evaluations and feedback.`,
    sessions: `${counted(sum('trace_count'), 'trace')}${cost} are deleted too, with all spans, images, scores, evaluations and feedback.`,
  };
  return below[name];
}

interface Deleting {
  readonly stopped: () => boolean;
  readonly onDone: () => void;
}

/** A few at once, until someone stops it. */
async function deleteAll({ name }: ListDefinition, rows: readonly ListRow[], { stopped, onDone }: Deleting) {
  const failed: Failed[] = [];
  const left = [...rows];
  const worker = async () => {
    for (let row = left.shift(); row !== undefined; row = left.shift()) {
      if (stopped()) {
        failed.push({ row, why: 'not attempted' });
        continue;
      }
      try {
        await call(`DELETE /${name}/:id`, { params: { id: row.id } });
      } catch (error) {
        // What another has deleted meanwhile is gone, too.
        if (!(error instanceof ApiError && error.status === 404)) failed.push({ row, why: (error as Error).message });
      }
      onDone();
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  return failed;
}
