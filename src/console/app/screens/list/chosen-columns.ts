import { useMemo } from 'preact/hooks';
import { joinValues } from '../../../../engine/traces/model/list/comma-values.js';
import type { ListDefinition } from '../../../../engine/traces/model/list/definitions.js';
import { clampWidth, columnsOf, defaultWidth, flexibleOf, widthsOf, writeWidths } from '../../../model/list-columns.js';
import { place, setQuery } from '../../state/location.js';
import { remembered } from '../../state/preferences.js';

export interface ChosenColumns {
  readonly columns: readonly string[];
  /** Of those that someone resized. */
  readonly widths: ReadonlyMap<string, number>;
  /** The columns that share what the others leave. */
  readonly flexible: readonly string[];
  widthOf(column: string): number | undefined;
  setColumns(columns: readonly string[]): void;
  resize(column: string, width: number): void;
  reset(): void;
}

/** The columns of a list: those that the address names, else those that this browser remembers, else the usual. */
export function useColumns(list: ListDefinition): ChosenColumns {
  const kept = useMemo(
    () => ({
      columns: remembered<string>(`columns.${list.name}`, ''),
      widths: remembered<string>(`widths.${list.name}`, ''),
    }),
    [list],
  );
  const columns = columnsOf(list, place.value.query.get('columns') ?? kept.columns.value);
  const widths = widthsOf(kept.widths.value);
  const flexible = flexibleOf(list, columns, widths);
  const setColumns = (next: readonly string[]) => {
    kept.columns.value = joinValues(next);
    setQuery({ columns: joinValues(next) }, { replace: true });
  };
  return {
    columns,
    widths,
    flexible,
    setColumns,
    widthOf: (column) => (flexible.includes(column) ? undefined : (widths.get(column) ?? defaultWidth(list, column))),
    resize: (column, width) => (kept.widths.value = writeWidths(new Map([...widths, [column, clampWidth(width)]]))),
    reset() {
      kept.columns.value = '';
      kept.widths.value = '';
      setQuery({ columns: null }, { replace: true });
    },
  };
}
