import { join, sql, value, type Sql } from '../clickhouse/client/sql.js';
import { inProject, type ReadScope } from '../read/scope.js';
import { current } from '../read/visibility.js';

/*
 * The rows of `experiment_spans` that count in the state that is read: by their versions, as of `spans`. A row may be there twice.
 */

/** @param conditions of which experiments, and more */
export function markedRows(scope: ReadScope, columns: Sql, conditions: readonly Sql[] = []): Sql {
  return sql`SELECT ${columns} FROM experiment_spans
  WHERE ${join([inProject(scope.projectId), ...conditions, current(whole(scope))], ' AND ')}`;
}

export const ofExperiment = (id: string) => sql`experiment_id = ${value(id, 'UUID')}`;

/** Rows that are results, not only of the experiment. */
export const IS_RESULT = sql`row_id != ''`;

/**
 * Ids of the traces that marked spans are in, or in which their results were made.
 * @param experiment the only one; null: any
 */
export function tracesMarked(scope: ReadScope, experiment: string | null): Sql {
  const conditions = experiment === null ? [] : [ofExperiment(experiment)];
  return sql`(SELECT marked_trace FROM (${markedRows(scope, sql`trace_id, made_in`, conditions)}) ARRAY JOIN [trace_id, made_in] AS marked_trace)`;
}

/** What was written since, and what is set aside, is read like all else: marks are known of every trace. */
function whole({ since: _since, ...scope }: ReadScope): ReadScope {
  const { unsettled = [], aside = [] } = scope;
  return aside.length === 0 ? scope : { ...scope, unsettled: [...new Set([...unsettled, ...aside])] };
}
