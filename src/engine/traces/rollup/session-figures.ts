import { empty, sql, type Sql } from '../clickhouse/client/sql.js';
import { rowVersion } from './row-version.js';
import { bare, whole } from './trace-figures.js';

/** The columns of a session's row, in the order of {@link sessionFigures} without its version. */
export const sessionFigureColumns = [
  'project_id',
  'id',
  'gone',
  'name',
  'trace_count',
  'error_count',
  'cost',
  'duration',
  'started_at',
  'ended_at',
  'tags',
  'attributes',
  'created_ver',
  'input_tokens',
  'output_tokens',
] as const;

/**
 * The parts that traces bring to each session that any write in them ever named; `member` for the one that they now
 * belong to. A session tag or name that a span brings without a session id goes to its trace's session.
 *
 * @param traces a table of figures with `session_writes`
 * @param stored further columns, where it is stored
 */
export function broughtToSessions(traces: Sql, stored: Sql = empty): Sql {
  return sql`SELECT
  project_id,
  assumeNotNull(coalesce(w.session_id, r.session_id)) AS session_id,
  r.id AS trace_id,
  max(w.live) AS named,
  any(NOT r.gone AND ifNull(r.session_id = coalesce(w.session_id, r.session_id), 0)) AS member,
  argMaxIf(w.name, w.ver, w.live AND w.name != '') AS name,
  maxIf(w.ver, w.live AND w.name != '') AS name_ver,
  maxMapIf(mapApply((k, v) -> (k, (w.ver, v)), w.tags), w.live) AS tags,
  any(r.cost) AS cost,
  any(r.duration_ms) AS duration_ms,
  any(r.error_count) AS error_count,
  any(r.started_at) AS started_at,
  any(r.ended_at) AS ended_at,
  minIf(w.ver, isNotNull(w.session_id)) AS created_ver,
  any(r.input_tokens) AS input_tokens,
  any(r.output_tokens) AS output_tokens${stored}
FROM (${traces}) AS r
ARRAY JOIN session_writes AS w
WHERE isNotNull(coalesce(w.session_id, r.session_id))
GROUP BY project_id, session_id, trace_id`;
}

/** Which parts of which sessions are read. */
export interface PartsRead {
  /** Conditions on `project_id` and `session_id`. */
  readonly sessions: Sql;
  /** A further condition on posted sessions, the rows `s` of `session_statements`. */
  readonly upTo?: Sql;
  /** The tags that traces bring. */
  readonly tags: Sql;
  /** Traces whose stored parts do not count, and a query of what they bring in their place. */
  readonly unsettled?: { readonly traces: Sql; readonly brought: Sql };
}

/** The parts that sessions consist of: what their traces bring, and the posted sessions. */
export function partsOfSessions({ sessions, upTo = empty, tags, unsettled }: PartsRead): Sql {
  const brought = (from: Sql) => sql`SELECT project_id, session_id, named, member, name, name_ver,
    ${tags} AS tags, cost, duration_ms, error_count,
    toNullable(started_at) AS started_at, ended_at, created_ver, input_tokens, output_tokens, 0 AS stated, 0 AS deleted, '' AS attributes
  FROM ${from}
  WHERE ${sessions}`;
  const stored = brought(sql`session_traces FINAL`);
  const traces =
    unsettled === undefined
      ? stored
      : sql`${stored} AND trace_id NOT IN ${unsettled.traces}
  UNION ALL
  ${brought(sql`(${unsettled.brought})`)}`;
  return sql`${traces}
  UNION ALL
  SELECT project_id, session_id, argMax(NOT s.deleted, s.ver) AS named, 0 AS member, argMax(s.name, s.ver) AS name,
    0 AS name_ver, argMax(CAST(mapApply((k, v) -> (k, (toUInt64(0), v)), s.tags), 'Map(String, Tuple(ver UInt64, value String))'), s.ver) AS tags,
    CAST(NULL, 'Nullable(Decimal(38, 12))') AS cost, CAST(NULL, 'Nullable(Float64)') AS duration_ms, 0 AS error_count,
    CAST(NULL, 'Nullable(DateTime64(6, \\'UTC\\'))') AS started_at, CAST(NULL, 'Nullable(DateTime64(6, \\'UTC\\'))') AS ended_at, min(s.ver) AS created_ver,
    CAST(NULL, 'Nullable(UInt64)') AS input_tokens, CAST(NULL, 'Nullable(UInt64)') AS output_tokens, 1 AS stated, argMax(s.deleted, s.ver) AS deleted, argMax(s.attributes, s.ver) AS attributes
  FROM session_statements AS s
  WHERE ${sessions}${upTo}
  GROUP BY project_id, session_id`;
}

/**
 * The figures of sessions: the one definition that rounds store and that lists read of sessions with parts that no round
 * has stored yet.
 *
 * @param parts a table `p` of {@link partsOfSessions}
 * @param stored further columns, where it is stored
 */
export function sessionFigures(parts: Sql, stored: Sql = empty): Sql {
  return sql`WITH
  argMaxIf(p.name, p.name_ver, p.name != '' AND NOT p.stated) AS derived_name,
  anyIf(p.name, p.stated AND NOT p.deleted) AS stated_name,
  mapApply((k, v) -> (k, v.2), maxMapIf(p.tags, NOT p.stated)) AS derived_tags
SELECT
  project_id,
  session_id AS id,${stored}
  max(p.named) = 0 AS gone,
  if(stated_name != '', stated_name, derived_name) AS name,
  countIf(p.member) AS trace_count,
  sumIf(p.error_count, p.member) AS error_count,
  sumIf(p.cost, p.member) AS cost,
  -- summed as integers, so that the figure does not depend on the order of the traces
  sumIf(toInt128(round(p.duration_ms * 1000000)), p.member) / 1000000 AS duration,
  minIf(p.started_at, p.member) AS started_at,
  maxIf(p.ended_at, p.member) AS ended_at,
  mapUpdate(derived_tags, mapApply((k, v) -> (k, v.2), maxMapIf(p.tags, p.stated AND NOT p.deleted))) AS tags,
  anyIf(p.attributes, p.stated AND NOT p.deleted) AS attributes,
  min(p.created_ver) AS created_ver,
  sumIf(p.input_tokens, p.member) AS input_tokens,
  sumIf(p.output_tokens, p.member) AS output_tokens
FROM ${parts}
GROUP BY project_id, session_id`;
}

/** The query of the view that stores what recomputed traces bring to sessions; the migrations hold the same text. */
export const storedBroughtToSessions = broughtToSessions(
  sql`SELECT * FROM traces_recomputed`,
  sql`,
  any(r.ver) AS ver,
  any(r.round) AS round`,
);

/** The query of the view that recomputes the sessions named in `touch_sessions`; the migrations hold the same text. */
export const recomputedSessions = sessionFigures(
  sql`(SELECT DISTINCT project_id, session_id FROM touch_sessions) AS t
INNER JOIN (
  ${partsOfSessions({
    sessions: sql`(project_id, session_id) IN (SELECT project_id, session_id FROM touch_sessions)`,
    upTo: sql` AND s.ver <= (SELECT maxMap(map(project_id, upto)) FROM touch_sessions)[project_id]`,
    tags: sql`if(${bare}, CAST(map(), 'Map(String, Tuple(ver UInt64, value String))'), tags)`,
  })}
) AS p USING (project_id, session_id)`,
  sql`
  ${rowVersion({ state: sql`(SELECT max(round) FROM touch_sessions)`, whole, round: sql`0` })} AS ver,`,
);
