import type { ListDefinition } from '../model/list/definitions.js';
import { sessionList, spanList, traceList } from '../model/list/definitions.js';
import { namedFields } from '../model/list/fields.js';
import type { ListQuery } from '../model/list/query.js';
import { sql, type Sql } from '../clickhouse/client/sql.js';
import { excerpt } from '../read/excerpt.js';
import type { jsonArray } from '../read/json-rows.js';
import { receivedVersion } from '../read/visibility.js';
import { namedColumns, sessionColumns, spanColumns, traceColumns } from './columns.js';

/** An index of objects by time, from which the newest or oldest are found without reading all. */
export interface TimeIndex {
  readonly table: Sql;
  /** The field that it is about. */
  readonly field: string;
  /** The time column of the index, by the same name in the list's own table. */
  readonly time: Sql;
}

/** Where a list is stored; what the compiler needs to know beside the list's definition. */
export interface ListSource {
  readonly list: ListDefinition;
  readonly columns: Readonly<Record<string, Sql>>;
  /** The version that `created_at` stands for. */
  readonly createdVersion: Sql;
  readonly table: Sql;
  /** The index of the list by time; null for spans, whose table is itself in time order. */
  readonly timeIndex: TimeIndex | null;
  /** The columns that bring rows with an equal sort value into one order. */
  readonly tieBreak: readonly Sql[];
}

export const spanSource: ListSource = {
  list: spanList,
  columns: spanColumns,
  createdVersion: receivedVersion,
  table: sql`spans`,
  timeIndex: null,
  tieBreak: [sql`trace_id`, sql`id`],
};

export const traceSource: ListSource = {
  list: traceList,
  columns: traceColumns,
  createdVersion: sql`created_ver`,
  table: sql`traces`,
  timeIndex: { table: sql`trace_starts`, field: 'started_at', time: sql`started_at` },
  tieBreak: [sql`id`],
};

export const sessionSource: ListSource = {
  list: sessionList,
  columns: sessionColumns,
  createdVersion: sql`created_ver`,
  table: sql`sessions`,
  timeIndex: { table: sql`session_starts`, field: 'created_at', time: sql`created_ver` },
  tieBreak: [sql`id`],
};

/** What of its objects a query wants: as {@link jsonArray} takes it. */
export function shown({ list, columns }: ListSource, { fields, textLimit }: ListQuery): Parameters<typeof jsonArray> {
  const names = fields ?? Object.keys(list.fields);
  const known = { ...list.fields, ...namedFields };
  const all = { ...columns, ...namedColumns };
  if (textLimit === null) return [known, names, all];
  const cut = Object.entries(columns).map(([name, column]) => [
    name,
    list.fields[name]?.type === 'text' ? excerpt(column, textLimit) : column,
  ]);
  return [known, names, { ...all, ...(Object.fromEntries(cut) as typeof columns) }];
}
