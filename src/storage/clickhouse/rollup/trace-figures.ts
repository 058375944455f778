import { sql, type Sql } from '../sql.js';

/** The columns of a trace's row, in the order of the table `traces` and of {@link traceFigures}, but for those of storing it. */
export const figureColumns = [
  'project_id',
  'id',
  'gone',
  'session_id',
  'name',
  'status',
  'started_at',
  'ended_at',
  'duration_ms',
  'cost',
  'span_count',
  'error_count',
  'tags',
  'attributes',
  'created_ver',
  'root_ver',
  'root_started_at',
] as const;

/** What is wanted of a trace beside its figures. */
export interface Beside {
  /** Further columns, over the aggregates. */
  readonly columns: Sql;
  /** Further aggregates over the facts, each with its flags `newest`, `live`, `stated` and `written`. */
  readonly aggregates: Sql;
  /** Further columns of `facts`. */
  readonly facts: Sql;
  /** Stands for the columns `trace_tags` and `session_tags`. */
  readonly tags: Sql;
}

const nothing: Beside = { columns: sql``, aggregates: sql``, facts: sql``, tags: sql`trace_tags` };

/**
 * The figures of traces, from their facts: the one definition that rounds store and that lists read of traces which no
 * round has stored yet. Written flat, on plain columns: its analysis is most of what it costs for few traces.
 *
 * @param facts conditions on `facts`: which traces, up to which version
 */
export function traceFigures(facts: Sql, beside: Beside = nothing): Sql {
  return sql`SELECT project_id, trace_id AS id, spans = 0 AND statements = 0 AS gone,
  if(isNull(stated_as.1) AND of_session.1 != 0, of_session.2, stated_as.1) AS session_id,
  if(statements > 0, stated_as.2, oldest.4) AS name,
  multiIf(stated_as.3 != '', stated_as.3, errors > 0, 'error', oks > 0, 'ok', 'unset') AS status,
  if(statements > 0, stated_as.4, first_start) AS started_at,
  coalesce(stated_as.5, last_end) AS ended_at,
  coalesce(stated_as.6, if(ended_at < started_at, 0, dateDiff('microsecond', started_at, ended_at) / 1000)) AS duration_ms,
  coalesce(stated_as.7, costs) AS cost,
  spans AS span_count,
  errors AS error_count,
  mapUpdate(mapApply((k, v) -> (k, v.2), tag_writes), stated_as.8) AS tags,
  stated_as.9 AS attributes,
  first_ver AS created_ver,
  if(spans > 0 AND NOT oldest.1, oldest.5, 0) AS root_ver,
  if(root_ver > 0, oldest.2, toDateTime64(0, 6, 'UTC')) AS root_started_at${beside.columns}
FROM (
  SELECT project_id, trace_id,
    min(ver) AS first_ver,
    countIf(live) AS spans,
    countIf(live AND has_error) AS errors,
    countIf(live AND status = 'ok') AS oks,
    minIf(started_at, live) AS first_start,
    maxIf(ended_at, live) AS last_end,
    sumIf(cost, live) AS costs,
    minIf((isNotNull(parent_span_id), started_at, id, name, ver), live) AS oldest,
    maxIf((written, assumeNotNull(session_id)), live AND isNotNull(session_id)) AS of_session,
    maxMapIf(mapApply((k, v) -> (k, (written, v)), trace_tags), live) AS tag_writes,
    countIf(stated) AS statements,
    anyIf((session_id, name, status, started_at, ended_at, duration_ms, cost, trace_tags, attributes), stated) AS stated_as${beside.aggregates}
  FROM (
    SELECT *, next_ver = 0 AS newest,
      row_type = 0 AND newest AND NOT deleted AS live,
      row_type = 1 AND newest AND NOT deleted AS stated,
      if(origin_ver = 0, ver, origin_ver) AS written
    FROM (
      SELECT project_id, trace_id, row_type, id, ver, deleted, parent_span_id, session_id, name, status, started_at, ended_at, duration_ms, cost, has_error,
        ${beside.tags}, attributes, origin_ver${beside.facts},
        lagInFrame(ver) OVER (PARTITION BY project_id, trace_id, row_type, id ORDER BY ver DESC) AS next_ver
      FROM facts
      WHERE ${facts}
    )
    WHERE next_ver != ver
  )
  GROUP BY project_id, trace_id
)`;
}

/** Whether a statement recomputes without tags, see `Recomputation`. */
export const bare = sql`getSetting('log_comment') = 'bare'`;
const sessionWrites = sql`,
    groupArrayIf((session_id, toUInt8(newest AND NOT deleted), written, session_name, CAST(session_tags, 'Map(String, String)')),
      isNotNull(session_id) OR (newest AND NOT deleted AND (session_name != '' OR notEmpty(session_tags)))) AS session_writes`;

/** Figures with what was written about sessions in each trace. */
export const withSessionWrites: Beside = {
  columns: sql`,
  CAST(session_writes, 'Array(Tuple(session_id Nullable(UUID), live UInt8, ver UInt64, name String, tags Map(String, String)))') AS session_writes`,
  aggregates: sessionWrites,
  facts: sql`, session_name`,
  tags: sql`trace_tags, session_tags`,
};

const noTags = sql`CAST(map(), 'Map(LowCardinality(String), String)')`;

/**
 * What the view recomputes of the traces that are named in `touch_traces`; the migrations hold the same text. A view looks
 * at what is inserted into the table that it reads first.
 */
export const recomputedTraces = sql`SELECT figures.*, touched.round AS round
FROM (SELECT max(round) AS round FROM touch_traces) AS touched
CROSS JOIN (
${traceFigures(
  sql`(project_id, trace_id) IN (SELECT project_id, trace_id FROM touch_traces) AND ver <= (SELECT max(upto) FROM touch_traces)`,
  {
    columns: sql`,
  latest * 2 + (getSetting('log_comment') != 'bare') AS ver,
  stale,
  session_writes`,
    aggregates: sql`,
    sumIf(toUInt128(ver), newest) AS latest,
    groupArrayIf((ver, next_ver), NOT newest AND row_type = 0) AS stale${sessionWrites}`,
    facts: withSessionWrites.facts,
    tags: sql`if(${bare}, ${noTags}, trace_tags) AS trace_tags, if(${bare}, ${noTags}, session_tags) AS session_tags`,
  },
)}
) AS figures`;
