import { useMemo } from 'preact/hooks';
import { scoreOf, tagOf } from '../../../../engine/traces/model/list/columns.js';
import type { ListDefinition } from '../../../../engine/traces/model/list/definitions.js';
import type { ScoreDefinitionRead } from '../../../../features/scores/schema.js';
import { counted } from '../../../model/format.js';
import { sideOf, type ListRow } from '../../../model/list-columns.js';
import { pageOf } from '../../../model/list-query.js';
import { aboutScore } from '../../../model/score-draft.js';
import { Button } from '../../parts/button.js';
import { DataTable, type Column } from '../../parts/data-table.js';
import { setQuery } from '../../state/location.js';
import { Cell, fullText, hrefOfRow, Lead } from './cells.js';
import type { ChosenColumns } from './chosen-columns.js';
import { columnLabel } from './columns-dialog.js';

interface ListRowsProps {
  readonly list: ListDefinition;
  readonly query: URLSearchParams;
  readonly rows: readonly ListRow[];
  readonly chosen: ChosenColumns;
  readonly scores: readonly ScoreDefinitionRead[];
  readonly selected: ReadonlySet<string>;
  readonly onSelect: (selected: ReadonlySet<string>) => void;
  readonly onFilter: (row: ListRow) => void;
}

export function ListRows({ list, query, rows, chosen, scores, selected, onSelect, onFilter }: ListRowsProps) {
  const { sort, descending } = pageOf(list, query);
  const columns = chosen.columns.map((column, index) => columnOf({ list, chosen, scores }, column, index === 0));
  const action = useMemo(
    () => ({ key: 'f', label: 'Filter by a cell', icon: 'filter', run: onFilter }) as const,
    [onFilter],
  );
  return (
    <DataTable
      caption={columnLabel(list.name)}
      columns={columns}
      rows={rows}
      idOf={({ id }) => id}
      hrefOf={(row) => hrefOfRow(list.name, row, query)}
      sorting={{
        by: sort,
        descending,
        onSort: (by, down) =>
          setQuery({ sort_by: by === list.defaultSort ? null : by, sort_order: down ? null : 'asc', offset: null }),
      }}
      selection={{ chosen: selected, onChange: onSelect }}
      action={action}
      onResize={chosen.resize}
    />
  );
}

const FIGURES = new Set(['number', 'money', 'integer']);

type Columns = Pick<ListRowsProps, 'list' | 'chosen' | 'scores'>;

function columnOf({ list, chosen, scores }: Columns, column: string, isLead: boolean): Column<ListRow> {
  const field = tagOf(column) === null ? list.fields[column] : undefined;
  const score = scoreOf(column);
  const definition = scores.find(({ name }) => name === score);
  return {
    name: column,
    label: columnLabel(column),
    about:
      field?.description ??
      (definition === undefined
        ? `${score === null ? 'Tag' : 'Score'} ${columnLabel(column)}`
        : aboutScore(definition)),
    figure: FIGURES.has(field?.type ?? '') || definition?.kind === 'numeric',
    named: field?.type === 'integer' || field === undefined || sideOf(column) !== null,
    ...((score !== null || list.sorts.includes(column)) && { sort: column }),
    width: chosen.widthOf(column),
    cell: (row) =>
      isLead ? <Lead list={list} row={row} column={column} /> : <Cell list={list} row={row} column={column} />,
    full: (row) => fullText({ list, row, column }),
  };
}

interface SelectionProps {
  readonly list: ListDefinition;
  readonly count: number;
  readonly onDelete: () => void;
  readonly onNone: () => void;
}

/** How many rows are selected, and what can be done with them: below the rows, so that these do not move. */
export function Selection({ list, count, onDelete, onNone }: SelectionProps) {
  return (
    <div class={`line${count === 0 ? '' : ' selection'}`} role="group" aria-label="Selected rows">
      <b role="status">{count === 0 ? '' : `${counted(count, list.name.slice(0, -1))} selected`}</b>
      {count > 0 && (
        <>
          <Button changes look="danger" icon="trash" onClick={onDelete}>
            Delete
          </Button>
          <Button look="quiet" onClick={onNone}>
            Clear selection
          </Button>
        </>
      )}
    </div>
  );
}
