import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { editedCell, mistakeIn, rowOf } from '../../../model/dataset-cells.js';
import type { RowData, ShownRow } from '../../../model/dataset-draft.js';

interface CellInputProps {
  readonly row: ShownRow;
  readonly column: string;
  readonly onSave: (data: RowData) => void;
  readonly onClose: () => void;
}

/** Edits a cell where it stands: Enter keeps what was entered, Escape does not, Shift+Enter begins a line. */
export function CellInput({ row: { data }, column, onSave, onClose }: CellInputProps) {
  const [cell, setCell] = useState(() => editedCell(data, column));
  const element = useRef<HTMLTextAreaElement>(null);
  const done = useRef(false);
  // Before anything is painted: the next key may come sooner.
  useLayoutEffect(() => {
    element.current?.focus();
    element.current?.select();
  }, []);
  const mistake = mistakeIn(cell);
  const end = (isKept: boolean) => {
    if (done.current || (isKept && mistake !== null)) return;
    done.current = true;
    // What was empty becomes a text once something is entered.
    const entered = cell.kind === 'none' && cell.text !== '' ? ({ ...cell, kind: 'text' } as const) : cell;
    if (isKept) onSave({ ...without(data, column), ...rowOf([entered]) });
    onClose();
  };
  return (
    <textarea
      ref={element}
      class={`input dataset-input${cell.kind === 'json' ? ' mono' : ''}`}
      rows={1}
      aria-label={column}
      aria-invalid={mistake !== null}
      title={mistake ?? undefined}
      value={cell.text}
      onInput={({ currentTarget: { value: text } }) => setCell({ ...cell, text })}
      onBlur={() => end(true)}
      onKeyDown={(event) => {
        if (event.key === 'Escape') end(false);
        else if (event.key === 'Enter' && !event.shiftKey) {
          event.preventDefault();
          end(true);
        }
      }}
    />
  );
}

function without(data: RowData, column: string): RowData {
  return Object.fromEntries(Object.entries(data).filter(([name]) => name !== column));
}
