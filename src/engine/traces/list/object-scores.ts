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
  /** A set of ids: the only objects that are asked about; absent: all are. */
  readonly ids?: Sql | undefined;
}

/**
 * Rows of `scored`, the id of an object, `ver` and columns of the scores that it is found by: its own, of a trace also those of
 * its spans, of a session also those of its traces, as with tags.
 */
export function objectScores(source: ListSource, scope: ReadScope, asked: ScoresAsked): Sql {
  const of = (type: Scored, ids: Sql | undefined) => {
    const among = [
      sql`entity_type = ${literal(type)}`,
      ...(asked.name === undefined ? [] : [sql`name = ${value(asked.name, 'String')}`]),
      ...(ids === undefined ? [] : [sql`entity_id IN ${ids}`]),
    ];
    return sql`SELECT entity_id AS scored${selected(asked)} FROM (${latestScores(scope, asked.columns, among)})`;
  };
  if (source === spanSource) return of('span', asked.ids);
  const inside =
    source === traceSource
      ? ofHeld(
          spansOf(scope, asked.ids),
          of('span', asked.ids && sql`(SELECT held FROM (${spansOf(scope, asked.ids)}))`),
          asked,
        )
      : ofHeld(
          tracesOf(scope, asked.ids),
          objectScores(traceSource, scope, { ...asked, ids: asked.ids && tracesIn(scope, asked.ids) }),
          asked,
        );
  return sql`${of(source === traceSource ? 'trace' : 'session', asked.ids)}
  UNION ALL
  ${inside}`;
}

function ofHeld(holders: Sql, scores: Sql, asked: ScoresAsked): Sql {
  return sql`SELECT h.holder AS scored${selected(asked, sql`s.`)}
  FROM (${holders}) AS h INNER JOIN (${scores}) AS s ON s.scored = h.held`;
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

const selected = ({ columns }: ScoresAsked, table: Sql = empty) =>
  join(
    ['ver', ...columns].map((column) => sql`, ${table}${identifier(column)} AS ${identifier(column)}`),
    '',
  );
