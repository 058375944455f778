import { useState } from 'preact/hooks';
import { editedCell, mistakeIn, rowOf, type EditedCell } from '../../../model/dataset-cells.js';
import type { RowData, ShownRow } from '../../../model/dataset-draft.js';
import { Button } from '../../parts/button.js';
import { Dialog } from '../../parts/dialog.js';
import { Field } from '../../parts/field.js';

interface RowEditorProps {
  /** Null: a new one. */
  readonly row: ShownRow | null;
  readonly columns: readonly string[];
  /** Another row: of a new one, values are of the same kinds. */
  readonly like: RowData;
  readonly onSave: (rowId: string | null, data: RowData) => void;
  readonly onClose: () => void;
}

/** Edits the cells of a row, or those of a new one. */
export function RowEditor({ row, columns, like, onSave, onClose }: RowEditorProps) {
  const isNew = row?.stored == null;
  const [id, setId] = useState(row?.row_id ?? '');
  const [cells, setCells] = useState(() =>
    columns.map((column): EditedCell => {
      if (row !== null) return editedCell(row.data, column);
      const { kind } = editedCell(like, column);
      return { column, kind: kind === 'json' ? kind : 'text', text: '' };
    }),
  );
  // What is left empty in a new row has no value.
  const given = cells.map((cell) => (row === null && cell.text === '' ? ({ ...cell, kind: 'none' } as const) : cell));
  const set = (changed: EditedCell) => setCells(cells.map((cell) => (cell.column === changed.column ? changed : cell)));
  const mistaken = given.find((cell) => mistakeIn(cell) !== null);
  const refused = given.every(({ kind }) => kind === 'none')
    ? 'Enter a value'
    : mistaken === undefined
      ? null
      : `Correct ${mistaken.column}`;
  return (
    <Dialog title={row === null ? 'New row' : `Edit row ${row.row_id ?? ''}`} wide onClose={onClose}>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          if (refused !== null) return;
          onSave(id.trim() || null, rowOf(given));
          onClose();
        }}
      >
        {isNew && (
          <Field label="Row ID" hint="Optional. A row of the dataset with this ID is replaced.">
            <input
              class="input"
              maxLength={200}
              autocomplete="off"
              value={id}
              onInput={({ currentTarget: { value } }) => setId(value)}
            />
          </Field>
        )}
        {cells.map((cell, index) => (
          <CellField key={cell.column} cell={cell} isFirst={index === 0} onChange={set} />
        ))}
        <NewColumn
          known={cells.map(({ column }) => column)}
          onAdd={(column) => setCells([...cells, { column, kind: 'text', text: '' }])}
        />
        <div class="line">
          <Button type="submit" look="main" changes refused={refused}>
            {row === null ? 'Add row' : 'Apply'}
          </Button>
          <Button onClick={onClose}>Cancel</Button>
          <span class="soft">Nothing is stored until you save the changes as a version.</span>
        </div>
      </form>
    </Dialog>
  );
}

const KINDS = { text: 'Text', json: 'JSON', none: 'No value' } as const;

interface CellFieldProps {
  readonly cell: EditedCell;
  readonly isFirst: boolean;
  readonly onChange: (cell: EditedCell) => void;
}

function CellField({ cell, isFirst, onChange }: CellFieldProps) {
  const { column, kind, text } = cell;
  return (
    <div class="dataset-field">
      <Field label={column} wrong={text === '' ? null : mistakeIn(cell)}>
        <textarea
          class={`input${kind === 'json' ? ' mono' : ''}`}
          autofocus={isFirst}
          value={kind === 'none' ? '' : text}
          placeholder={kind === 'none' ? 'No value' : ''}
          onInput={({ currentTarget: { value } }) =>
            onChange({ ...cell, kind: kind === 'none' ? 'text' : kind, text: value })
          }
        />
      </Field>
      <select
        class="input"
        aria-label={`Type of ${column}`}
        value={kind}
        onChange={({ currentTarget: { value } }) => onChange({ ...cell, kind: value as EditedCell['kind'] })}
      >
        {Object.entries(KINDS).map(([value, label]) => (
          <option key={value} value={value}>
            {label}
          </option>
        ))}
      </select>
    </div>
  );
}

interface NewColumnProps {
  readonly known: readonly string[];
  readonly onAdd: (column: string) => void;
}

function NewColumn({ known, onAdd }: NewColumnProps) {
  const [name, setName] = useState('');
  const column = name.trim();
  const refused =
    column === '' ? 'Enter a name' : known.includes(column) || column === 'row_id' ? 'This name is taken' : null;
  const add = () => {
    onAdd(column);
    setName('');
  };
  return (
    <div class="line fields">
      <Field label="New column">
        <input
          class="input"
          maxLength={200}
          autocomplete="off"
          value={name}
          onInput={({ currentTarget: { value } }) => setName(value)}
          onKeyDown={(event) => {
            if (event.key !== 'Enter') return;
            event.preventDefault();
            if (refused === null) add();
          }}
        />
      </Field>
      <Button icon="plus" refused={refused} onClick={add}>
        Add column
      </Button>
    </div>
  );
}
