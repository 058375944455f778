import type { ListDefinition } from '../../../domain/list/definitions.js';
import { sessionList, spanList, traceList } from '../../../domain/list/definitions.js';
import { sql, type Sql } from '../client/sql.js';
import { sessionColumns, spanColumns, traceColumns } from './columns.js';

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
  /** The version column that `created_at` stands for: compared directly, so that its index serves. */
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
  createdVersion: sql`ver`,
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
