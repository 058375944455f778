import type { ComponentChildren } from 'preact';
import { useRef, useState } from 'preact/hooks';
import { navigate } from '../state/location.js';
import { useKeys } from '../state/keys.js';
import { ColumnEdge, Columns, leastWidth } from './column-widths.js';
import { Icon, type IconName } from './icon.js';

export interface Column<T> {
  readonly name: string;
  readonly label: string;
  /** Figures stand to the right. */
  readonly figure?: boolean;
  /** Name of the API's sort; absent: the list cannot be sorted by it. */
  readonly sort?: string;
  /** In pixels. Columns without one share what is left; where none has one, all fit their content. */
  readonly width?: number | undefined;
  /** Why the column is there, in a tooltip. */
  readonly about?: string;
  readonly cell: (row: T) => ComponentChildren;
  /** Whether the column is named beside its value where a row is two lines, as nothing else says what it is. */
  readonly named?: boolean;
  /** What the tooltip says where the cell is cut. */
  readonly full?: (row: T) => string | undefined;
}

export interface Sorting {
  readonly by: string;
  readonly descending: boolean;
  readonly onSort: (by: string, descending: boolean) => void;
}

/** What can be done with a row beside opening and selecting it: by its key, and by a button in the row. */
export interface RowAction<T> {
  readonly key: string;
  readonly label: string;
  readonly icon: IconName;
  readonly run: (row: T) => void;
}

interface DataTableProps<T> {
  /** What it lists, for those who hear it. */
  readonly caption: string;
  readonly columns: readonly Column<T>[];
  readonly rows: readonly T[];
  readonly idOf: (row: T) => string;
  readonly hrefOf?: (row: T) => string;
  readonly sorting?: Sorting;
  readonly selection?: {
    readonly chosen: ReadonlySet<string>;
    readonly onChange: (chosen: ReadonlySet<string>) => void;
  };
  readonly action?: RowAction<T>;
  /** Columns have the widths that they say, and their edges can be dragged. */
  readonly onResize?: (column: string, width: number) => void;
  /** On narrow screens a row is two lines: the first column, and the others behind it. Default true. */
  readonly twoLine?: boolean;
}

/** A table whose rows can be gone through with j and k, opened with Enter and chosen with x. */
export function DataTable<T>(props: DataTableProps<T>) {
  const { caption, columns, rows, idOf, hrefOf, selection, action, onResize, twoLine = true } = props;
  const [current, setCurrent] = useState<string | null>(null);
  const body = useRef<HTMLTableSectionElement>(null);
  const at = rows.findIndex((row) => idOf(row) === current);
  const move = (step: number) => {
    const next = Math.max(0, Math.min(rows.length - 1, at < 0 ? 0 : at + step));
    const row = rows[next];
    if (row === undefined) return;
    setCurrent(idOf(row));
    const shown = body.current?.rows[next];
    shown?.scrollIntoView({ block: 'nearest' });
    shown?.querySelector('a')?.focus({ preventScroll: true });
  };
  const toggle = (id: string) => {
    if (selection === undefined) return;
    const chosen = new Set(selection.chosen);
    if (!chosen.delete(id)) chosen.add(id);
    selection.onChange(chosen);
  };
  const row = rows[at];
  const widths = {
    widths: columns.map(({ width }) => width),
    before: selection === undefined ? [] : [32],
    after: action === undefined ? [] : [36],
  };
  useKeys(
    [
      { keys: 'j', does: 'Next row', run: () => move(1) },
      { keys: 'k', does: 'Previous row', run: () => move(-1) },
      ...(hrefOf === undefined
        ? []
        : [{ keys: 'Enter', does: 'Open row', run: () => row !== undefined && navigate(hrefOf(row)) }]),
      ...(selection === undefined
        ? []
        : [{ keys: 'x', does: 'Select row', run: () => row !== undefined && toggle(idOf(row)) }]),
      ...(action === undefined
        ? []
        : [{ keys: action.key, does: action.label, run: () => row !== undefined && action.run(row) }]),
    ],
    [rows, current, selection?.chosen, action],
  );
  return (
    <div class="table-box">
      <table
        class={`table${twoLine ? ' two-line' : ''}${onResize === undefined ? '' : ' fixed'}`}
        style={onResize === undefined ? {} : { minWidth: `${leastWidth(widths)}px` }}
      >
        <caption class="unseen">{caption}</caption>
        {onResize !== undefined && <Columns {...widths} />}
        <Head {...props} />
        <tbody ref={body}>
          {rows.map((row) => {
            const id = idOf(row);
            return (
              <tr
                key={id}
                data-current={id === current ? '' : undefined}
                aria-selected={selection?.chosen.has(id)}
                onFocusCapture={() => setCurrent(id)}
              >
                {selection !== undefined && (
                  <td class="row-choice">
                    <input
                      type="checkbox"
                      aria-label="Select"
                      checked={selection.chosen.has(id)}
                      onChange={() => toggle(id)}
                    />
                  </td>
                )}
                {columns.map(({ name, label, named, cell, full, figure }, index) => (
                  <td
                    key={name}
                    class={`${classOf(name, figure)}${index === 0 ? ' lead' : ''}`}
                    {...(named === true && { 'data-label': label })}
                    title={full?.(row)}
                  >
                    {index === 0 && hrefOf !== undefined ? <a href={hrefOf(row)}>{cell(row)}</a> : cell(row)}
                  </td>
                ))}
                {action !== undefined && (
                  <td class="row-action">
                    <button
                      type="button"
                      class="button quiet only-icon"
                      tabIndex={-1}
                      aria-label={action.label}
                      title={`${action.label} (${action.key})`}
                      onClick={() => action.run(row)}
                    >
                      <Icon name={action.icon} />
                    </button>
                  </td>
                )}
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}

/** Actions stay in view, however wide the table is. */
const classOf = (name: string, isFigure = false) => (isFigure ? 'num' : name.trim() === 'actions' ? 'acts' : '');

function Head<T>({ columns, sorting, selection, rows, idOf, action, onResize }: DataTableProps<T>) {
  const all = rows.length > 0 && rows.every((row) => selection?.chosen.has(idOf(row)));
  return (
    <thead>
      <tr>
        {selection !== undefined && (
          <th>
            <input
              type="checkbox"
              aria-label="Select all rows on this page"
              checked={all}
              onChange={() => selection.onChange(new Set(all ? [] : rows.map(idOf)))}
            />
          </th>
        )}
        {columns.map(({ name, label, figure, sort, about }) => {
          const sorted = sorting !== undefined && sort !== undefined && sorting.by === sort;
          const order = !sorted ? undefined : sorting.descending ? 'descending' : 'ascending';
          return (
            <th key={name} scope="col" class={classOf(name, figure)} aria-sort={order} title={about}>
              {sorting === undefined || sort === undefined ? (
                label
              ) : (
                <button
                  type="button"
                  class="sort"
                  onClick={() => sorting.onSort(sort, sorted ? !sorting.descending : true)}
                >
                  {label}
                  {sorted && <Icon name={sorting.descending ? 'sort-down' : 'sort-up'} />}
                </button>
              )}
              {onResize !== undefined && <ColumnEdge onResize={(width) => onResize(name, width)} />}
            </th>
          );
        })}
        {action !== undefined && (
          <th>
            <span class="unseen">{action.label}</span>
          </th>
        )}
      </tr>
    </thead>
  );
}
