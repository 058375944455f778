import { join, literal, number, sql, value, type Sql } from '../clickhouse/client/sql.js';
import { inProject, type ReadScope } from '../read/scope.js';
import { latestScores, scoresSince } from '../score/latest.js';
import type { Version } from '../write/version-clock.js';
import { memberships, tracesIn } from './membership.js';
import { computedNewest, newestScores, ofFilling } from './newest-scores.js';
import { idSet } from './rows.js';
import { sessionSource, traceSource, type ListSource } from './sources.js';

/* What fills the table `newest_scores`, and finds what is not as it was. */

/** One filling of the table, as of a version: of one name for one list of a project. */
export interface FillingOf {
  readonly source: ListSource;
  readonly name: string;
  readonly filling: number;
  readonly generation: number;
}

const COLUMNS = sql`project_id, entity_type, name, filling, generation, scored, ver, kind, number, text, from_trace`;
const NO_TRACE = sql`toUUID('00000000-0000-0000-0000-000000000000')`;

/** Stores the newest score of all objects. */
export function fill(scope: ReadScope, of: FillingOf): Sql {
  return sql`INSERT INTO newest_scores (${COLUMNS})
SELECT ${keyOf(scope, of)}, scored, ver, kind, number, text, from_trace FROM (${withTrace(of.source, scope, of.name)})`;
}

/** Stores those of some objects anew; of one that has none any more, that it has none. */
export function fillAgain(scope: ReadScope, of: FillingOf, objects: readonly string[]): Sql {
  const ids = idSet(objects);
  const stored = sql`SELECT scored FROM newest_scores WHERE ${ofFilling(of.source, scope, of.name, of.filling)} AND scored IN ${ids}`;
  return sql`INSERT INTO newest_scores (${COLUMNS})
SELECT ${keyOf(scope, of)}, changed.id, given.ver, given.kind, given.number, given.text, given.from_trace
FROM (SELECT arrayJoin(${ids}) AS id) AS changed
LEFT ANY JOIN (${withTrace(of.source, scope, of.name, ids)}) AS given ON given.scored = changed.id
WHERE given.kind != '' OR changed.id IN (${stored})`;
}

/** Rows of `object`: traces whose newest score of one of some names may have become another after a version, and others. */
export function tracesChanged(scope: ReadScope, names: readonly string[], since: Version, limit: number): Sql {
  const scored = scoresSince(scope, names, since);
  return limited(
    [
      sql`SELECT trace_id AS changed FROM facts WHERE ${inProject(scope.projectId)} AND ${between(scope, since)}`,
      sql`SELECT trace_id AS changed FROM spans WHERE ${inProject(scope.projectId)} AND id IN (${scored('span')})`,
      scored('trace'),
    ],
    limit,
  );
}

/**
 * The same of sessions: those that the traces are in, and those that have the score of one. What a session had from another is still there.
 * @param traces those of {@link tracesChanged}
 */
export function sessionsChanged(
  scope: ReadScope,
  fillings: readonly Pick<FillingOf, 'name' | 'filling'>[],
  since: Version,
  traces: readonly string[],
  limit: number,
): Sql {
  const ids = idSet(traces);
  const names = fillings.map(({ name }) => name);
  const ofTraces = [
    sql`SELECT session_id AS changed FROM (${memberships(scope, { traces: ids })})`,
    ...fillings.map(
      ({ name, filling }) =>
        sql`SELECT scored AS changed FROM newest_scores WHERE ${ofFilling(sessionSource, scope, name, filling)} AND from_trace IN ${ids}`,
    ),
  ];
  return limited([...(traces.length === 0 ? [] : ofTraces), scoresSince(scope, names, since)('session')], limit);
}

function limited(each: readonly Sql[], limit: number): Sql {
  return sql`SELECT DISTINCT toString(changed) AS object FROM (
  ${join([...each], '\n  UNION ALL\n  ')}
) LIMIT ${number(limit)}`;
}

const between = ({ upTo }: ReadScope, since: Version) =>
  sql`ver > ${value(since, 'UInt64')} AND ver <= ${value(upTo, 'UInt64')}`;

function keyOf({ projectId }: ReadScope, { source, name, filling, generation }: FillingOf): Sql {
  const type = literal(source === traceSource ? 'trace' : 'session');
  return sql`${value(projectId, 'String')}, ${type}, ${value(name, 'String')}, ${number(filling)}, ${number(generation)}`;
}

/** Rows of the newest scores, with `from_trace`. */
function withTrace(source: ListSource, scope: ReadScope, name: string, ids?: Sql): Sql {
  if (source === traceSource)
    return sql`SELECT scored, ver, kind, number, text, ${NO_TRACE} AS from_trace FROM (${computedNewest(source, scope, name, { ids })})`;
  const own = [
    sql`entity_type = 'session'`,
    sql`name = ${value(name, 'String')}`,
    ...(ids === undefined ? [] : [sql`entity_id IN ${ids}`]),
  ];
  const ofTraces = newestScores(traceSource, scope, name, ids === undefined ? {} : { ids: tracesIn(scope, ids) });
  return sql`SELECT scored, ver, kind, number, text, from_trace FROM (
  SELECT entity_id AS scored, ver, kind, number, text, ${NO_TRACE} AS from_trace FROM (${latestScores(scope, ['kind', 'number', 'text'], own)})
  UNION ALL
  SELECT m.session_id AS scored, s.ver AS ver, s.kind AS kind, s.number AS number, s.text AS text, m.trace_id AS from_trace
  FROM (${ofTraces}) AS s INNER JOIN (${memberships(scope, ids === undefined ? {} : { sessions: ids })}) AS m ON m.trace_id = s.scored
) ORDER BY scored, ver DESC LIMIT 1 BY scored`;
}
