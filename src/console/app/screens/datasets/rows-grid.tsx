import { useMemo, useState } from 'preact/hooks';
import { beginningOf, cellText, textOf, valueIn } from '../../../model/dataset-cells.js';
import type { RowData, ShownRow } from '../../../model/dataset-draft.js';
import { counted } from '../../../model/format.js';
import { Button } from '../../parts/button.js';
import { DataTable, type Column } from '../../parts/data-table.js';
import { hrefWith } from '../../state/location.js';
import { CellInput } from './cell-input.js';

/** Columns that the grid shows; a row that is opened has all of them. */
const SHOWN = 50;

interface RowsGridProps {
  readonly rows: readonly ShownRow[];
  readonly columns: readonly string[];
  readonly isEditable: boolean;
  readonly onEdit: (row: ShownRow) => void;
  readonly onRemove: (row: ShownRow) => void;
  readonly onSave: (row: ShownRow, row_id: string | null, data: RowData) => void;
}

const idOf = ({ key, row_id }: ShownRow) => (key === null ? (row_id ?? '') : `new ${key}`);

/** Rows with their cells in one line each. */
export function RowsGrid({ rows, columns, isEditable, onEdit, onRemove, onSave }: RowsGridProps) {
  const [cell, setCell] = useState<{ readonly row: string; readonly column: string } | null>(null);
  const shown = columns.slice(0, SHOWN);
  const action = useMemo(
    () =>
      ({
        key: 'e',
        label: 'Edit row',
        icon: 'edit',
        run: (row: ShownRow) => row.state !== 'removed' && onEdit(row),
      }) as const,
    [onEdit],
  );
  const all: Column<ShownRow>[] = [
    { name: ' row', label: 'Row', cell: (row) => <Lead row={row} />, full: ({ row_id }) => row_id ?? 'New row' },
    ...shown.map((column): Column<ShownRow> => ({
      name: column,
      label: column,
      named: true,
      cell: (row) =>
        cell?.row === idOf(row) && cell.column === column ? (
          <CellInput
            row={row}
            column={column}
            onSave={(data) => onSave(row, row.row_id, data)}
            onClose={() => setCell(null)}
          />
        ) : (
          <CellShown
            row={row}
            column={column}
            {...(isEditable && row.state !== 'removed' && { onEdit: () => setCell({ row: idOf(row), column }) })}
          />
        ),
      full: ({ data }) => beginningOf(valueIn(data, column)),
    })),
    ...(isEditable
      ? [
          {
            name: ' actions',
            label: 'Actions',
            cell: (row: ShownRow) => (
              <Button
                look="quiet"
                icon={row.state === 'removed' ? 'refresh' : 'trash'}
                changes
                label={row.state === 'removed' ? 'Keep row' : 'Remove row'}
                onClick={() => onRemove(row)}
              />
            ),
          },
        ]
      : []),
  ];
  return (
    <div class="stack dataset-grid">
      <DataTable
        caption="Rows"
        columns={all}
        rows={rows}
        idOf={idOf}
        hrefOf={({ key, row_id }) => hrefWith({ row: key === null ? row_id : null })}
        {...(isEditable && { action })}
      />
      <p class="soft small">
        {columns.length > SHOWN && `${counted(columns.length - SHOWN, 'more column')}: open a row to see all. `}
        {isEditable && 'Double-click a cell to edit it, or press e to edit the row. Changes are saved together.'}
      </p>
    </div>
  );
}

function Lead({ row: { row_id, state } }: { readonly row: ShownRow }) {
  return (
    <span class="lead-cell">
      <span class="clip">{row_id === null ? 'new' : <bdi>{row_id}</bdi>}</span>
      {state !== 'same' && (
        <span class={`badge ${state === 'removed' ? 'bad' : state === 'added' ? 'good' : 'warn'}`}>{state}</span>
      )}
    </span>
  );
}

interface CellShownProps {
  readonly row: ShownRow;
  readonly column: string;
  readonly onEdit?: () => void;
}

function CellShown({ row: { data, stored, state }, column, onEdit }: CellShownProps) {
  const value = valueIn(data, column);
  const isChanged = state === 'changed' && stored !== null && textOf(value) !== textOf(valueIn(stored, column));
  const looks = [
    'dataset-cell',
    isChanged ? 'is-changed' : '',
    state === 'removed' ? 'is-removed' : '',
    typeof value === 'string' ? '' : 'mono',
  ];
  return (
    <span class={looks.join(' ')} {...(onEdit !== undefined && { onDblClick: onEdit })}>
      <bdi>{cellText(value)}</bdi>
    </span>
  );
}
