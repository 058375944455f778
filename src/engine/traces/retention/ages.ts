import { KEEP_TAG } from '../model/retention/keep-tag.js';
import type { Micros } from '../../timestamp.js';
import { literal, sql, value, type Sql } from '../clickhouse/client/sql.js';
import { inProject, type ReadScope } from '../read/scope.js';
import { moment } from '../read/times.js';
import { current, standing } from '../read/visibility.js';

/*
 * What is old, and what a tag keeps all the same. The work and the look ahead read by these same rules.
 */

/** Whether tags say that what has them is kept: any value does, except for `false`. */
export function keeps(tags: Sql): Sql {
  const key = literal(KEEP_TAG);
  return sql`(mapContains(${tags}, ${key}) AND lower(${tags}[${key}]) != 'false')`;
}

/** Rows `t` of `traces` in which everything may be older than a moment: only their facts tell of unfinished spans. */
export function candidate(before: Micros): Sql {
  const end = moment(before);
  return sql`NOT t.gone AND t.started_at < ${end} AND (isNull(t.ended_at) OR t.ended_at < ${end})`;
}

/**
 * Traces in which nothing is as new as a moment: how many spans each has, when these started, the newest time in it, and whether its
 * own tags or those of its session keep it. Tags count as lists show them; a trace that is too large to be recomputed with its tags
 * is kept by any that was ever written to what is in it.
 * @param ids a list or a subquery
 */
export function examined(scope: ReadScope, ids: Sql, before: Micros): Sql {
  return sql`SELECT a.trace_id AS trace_id, a.spans AS spans, a.newest AS newest, a.first_start AS first_start, a.last_start AS last_start,
  toUInt8(s.kept OR (s.bare AND a.kept)) AS marked
FROM (${ages(scope, ids)}) AS a
INNER JOIN (${shownTags(scope, ids)}) AS s ON s.id = a.trace_id
WHERE a.newest < ${moment(before)}`;
}

/** Traces of spans that a tag of their own keeps. @param among conditions on `spans` */
export function keepingSpans(scope: ReadScope, among: Sql): Sql {
  return sql`SELECT trace_id FROM spans
    WHERE ${inProject(scope.projectId)} AND ${among} AND ${keeps(sql`tags`)} AND ${current(scope)}`;
}

function ages({ projectId, upTo }: ReadScope, ids: Sql): Sql {
  const facts = sql`${inProject(projectId)} AND trace_id IN ${ids} AND ver <= ${value(upTo, 'UInt64')}`;
  return sql`SELECT trace_id, countIf(row_type = 0) AS spans, max(greatest(started_at, ifNull(ended_at, started_at))) AS newest,
    min(started_at) AS first_start, max(started_at) AS last_start, max(keeping) AS kept
  FROM (${standing(sql`trace_id, started_at, ended_at, ${keeps(sql`trace_tags`)} AS keeping`, facts)})
  GROUP BY trace_id`;
}

/** What traces show of their tags, and of their sessions'. `bare`: recomputed without tags, as its version tells. */
function shownTags({ projectId }: ReadScope, ids: Sql): Sql {
  const sessions = sql`SELECT session_id FROM traces WHERE ${inProject(projectId)} AND id IN ${ids} AND isNotNull(session_id)`;
  const kept = sql`SELECT id FROM sessions FINAL
      WHERE ${inProject(projectId)} AND id IN (${sessions}) AND NOT gone AND ${keeps(sql`tags`)}`;
  return sql`SELECT t.id AS id, ${keeps(sql`t.tags`)} OR ifNull(t.session_id IN (${kept}), 0) AS kept, t.ver % 2 = 0 AS bare
  FROM traces AS t FINAL WHERE ${inProject(projectId)} AND t.id IN ${ids} AND NOT t.gone`;
}
