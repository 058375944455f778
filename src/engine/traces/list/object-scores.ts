import type { Scored } from '../model/score/score.js';
import { empty, identifier, join, literal, sql, value, type Sql } from '../clickhouse/client/sql.js';
import { inProject, type ReadScope } from '../read/scope.js';
import { current, factsOf, standing } from '../read/visibility.js';
import { latestScores } from '../score/latest.js';
import { memberships, tracesIn } from './membership.js';
import { spanSource, traceSource, type ListSource } from './sources.js';

/** Which scores of the objects of a list are read, and what of them. */
export interface ScoresAsked {
  /** Columns of `scores`, beside `ver`. */
  readonly columns: readonly string[];
  /** The only name; absent: any. */
  readonly name?: string;
  /** The only names; absent: any. */
  readonly names?: readonly string[];
  /** A set of ids: the only objects that are asked about; absent: all are. */
  readonly ids?: Sql | undefined;
  /** Whether these are so many that reading all scores of what is in them is quicker than looking for each. */
  readonly areMany?: boolean;
  /** Scores of the traces in sessions, where these are known otherwise: rows of `scored`, `ver` and the columns. */
  readonly ofTraces?: Sql | undefined;
}

/**
 * Rows of `scored`, the id of an object, `ver` and columns of the scores that it is found by: its own, of a trace also those of
 * its spans, of a session also those of its traces, as with tags.
 */
export function objectScores(source: ListSource, scope: ReadScope, asked: ScoresAsked): Sql {
  const of = (type: Scored, ids: Sql | undefined) => ownScores(type, scope, { ...asked, ids });
  if (source === spanSource) return of('span', asked.ids);
  if (source === traceSource) {
    const spans = spansOf(scope, asked.ids);
    const ids = asked.ids === undefined || asked.areMany === true ? undefined : sql`(SELECT held FROM (${spans}))`;
    return sql`${of('trace', asked.ids)}
  UNION ALL
  ${ofHeld(spans, of('span', ids), asked)}`;
  }
  const traces =
    asked.ofTraces ?? objectScores(traceSource, scope, { ...asked, ids: asked.ids && tracesIn(scope, asked.ids) });
  return sql`${of('session', asked.ids)}
  UNION ALL
  ${ofHeld(tracesOf(scope, asked.ids), traces, asked)}`;
}

/** The same of the scores that objects have themselves. */
export function ownScores(type: Scored, scope: ReadScope, asked: Omit<ScoresAsked, 'areMany' | 'ofTraces'>): Sql {
  const { name, names, ids } = asked;
  const among = [
    sql`entity_type = ${literal(type)}`,
    ...(name === undefined ? [] : [sql`name = ${value(name, 'String')}`]),
    ...(names === undefined ? [] : [sql`name IN ${value(names, 'Array(String)')}`]),
    ...(ids === undefined ? [] : [sql`entity_id IN ${ids}`]),
  ];
  return sql`SELECT entity_id AS scored${selected(asked)} FROM (${latestScores(scope, asked.columns, among)})`;
}

/** Scores, as those of what holds the objects that they are of. */
function ofHeld(holders: Sql, scores: Sql, asked: ScoresAsked): Sql {
  const [held, given] = [sql`(${holders}) AS h`, sql`(${scores}) AS s`];
  // The smaller side of a join is the second one.
  const [left, right] = asked.areMany === true ? [given, held] : [held, given];
  return sql`SELECT h.holder AS scored${selected(asked, sql`s.`)}
  FROM ${left} INNER JOIN ${right} ON s.scored = h.held`;
}

/** Rows of `holder` and `held`: traces, and the spans in them. */
function spansOf(scope: ReadScope, traces: Sql | undefined): Sql {
  if (traces === undefined)
    return sql`SELECT trace_id AS holder, id AS held FROM spans WHERE ${inProject(scope.projectId)} AND ${current(scope)}`;
  return sql`SELECT trace_id AS holder, id AS held
  FROM (${standing(sql`trace_id, id`, factsOf(scope, traces))}) WHERE row_type = 0`;
}

/** The same of sessions, and the traces in them. */
function tracesOf(scope: ReadScope, sessions: Sql | undefined): Sql {
  return sql`SELECT session_id AS holder, trace_id AS held FROM (${memberships(scope, sessions === undefined ? {} : { sessions })})`;
}

const selected = ({ columns }: Pick<ScoresAsked, 'columns'>, table: Sql = empty) =>
  join(
    ['ver', ...columns].map((column) => sql`, ${table}${identifier(column)} AS ${identifier(column)}`),
    '',
  );
