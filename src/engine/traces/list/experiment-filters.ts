import type { ListQuery } from '../model/list/query.js';
import { sql, value, type Sql } from '../clickhouse/client/sql.js';
import { tracesMarked } from '../experiment/marked-rows.js';
import type { ReadScope } from '../read/scope.js';
import { spanSource, type ListSource } from './sources.js';

/*
 * Which objects of experiments are listed. An experiment has the traces that its spans are in and those that these were made in,
 * whole: where they are left out, no step of a program that was only tried counts.
 */

type Asked = Pick<ListQuery, 'experiments' | 'experiment'>;

/** Whether a query is about what is of experiments, or about what is not. */
export function asksOfExperiments({ experiments, experiment }: Asked): boolean {
  return experiments !== 'included' || experiment !== null;
}

/** The conditions that a query puts on what is of experiments: none in a project that never had any. */
export function experimentConditions(source: ListSource, scope: ReadScope, query: Asked): Sql[] {
  const { experiments, experiment } = query;
  if (scope.hasMarked !== true) return experiments === 'only' || experiment !== null ? [sql`0`] : [];
  const trace = source === spanSource ? sql`trace_id` : sql`id`;
  const listed =
    experiments === 'included'
      ? []
      : [experiments === 'only' ? sql`${trace} IN ${tracesMarked(scope, null)}` : unmarked(trace, scope)];
  if (experiment === null) return listed;
  const own =
    source === spanSource
      ? sql`experiment_id = ${value(experiment, 'UUID')}`
      : sql`id IN ${tracesMarked(scope, experiment)}`;
  return [own, ...listed];
}

/** Whether a list leaves out traces that an index of traces may name. */
export function leavesOutPicked(scope: ReadScope, { experiments }: Asked): boolean {
  return scope.hasMarked === true && experiments === 'left out';
}

/** The condition on traces that a list leaves out, for where they are only picked; empty: it leaves out none. */
export function leftOutOfPicked(column: Sql, scope: ReadScope, query: Asked): Sql[] {
  return leavesOutPicked(scope, query) ? [unmarked(column, scope)] : [];
}

/** `identity` keeps the index of the key out of it: hardly any granule has only such traces, and asking each takes its time. */
function unmarked(trace: Sql, scope: ReadScope): Sql {
  return sql`identity(${trace}) NOT IN ${tracesMarked(scope, null)}`;
}
