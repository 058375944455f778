-- The figures of traces, written flat. Lists compute those of traces and sessions that no round has stored yet by the same
-- texts, which src/storage/clickhouse/rollup makes (trace-figures.ts, session-figures.ts); a test compares them.
--
-- Each project is recomputed up to a version of its own: that of the oldest read under way.
DROP VIEW IF EXISTS recompute_traces;

CREATE MATERIALIZED VIEW IF NOT EXISTS recompute_traces TO traces_recomputed AS
SELECT figures.*, touched.round AS round
FROM (SELECT max(round) AS round FROM touch_traces) AS touched
CROSS JOIN (
SELECT project_id, trace_id AS id,
  spans = 0 AND statements = 0 AS gone,
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
  if(root_ver > 0, oldest.2, toDateTime64(0, 6, 'UTC')) AS root_started_at,
  latest * 2 + (getSetting('log_comment') != 'bare') AS ver,
  stale,
  session_writes
FROM (
  SELECT project_id, trace_id,
    sumIf(cost, live) AS costs,
    countIf(live AND has_error) AS errors,
    minIf(started_at, live) AS first_start,
    min(ver) AS first_ver,
    maxIf(ended_at, live) AS last_end,
    maxIf((written, assumeNotNull(session_id)), live AND isNotNull(session_id)) AS of_session,
    countIf(live AND status = 'ok') AS oks,
    minIf((isNotNull(parent_span_id), started_at, id, name, ver), live) AS oldest,
    countIf(live) AS spans,
    anyIf((session_id, name, status, started_at, ended_at, duration_ms, cost, trace_tags, attributes), stated) AS stated_as,
    countIf(stated) AS statements,
    maxMapIf(mapApply((k, v) -> (k, (written, v)), trace_tags), live) AS tag_writes,
    sumIf(toUInt128(ver), newest) AS latest,
    groupArrayIf((ver, next_ver), NOT newest AND row_type = 0) AS stale,
    groupArrayIf((session_id, toUInt8(newest AND NOT deleted), written, session_name, CAST(session_tags, 'Map(String, String)')),
      isNotNull(session_id) OR (newest AND NOT deleted AND (session_name != '' OR notEmpty(session_tags)))) AS session_writes
  FROM (
    SELECT *, next_ver = 0 AS newest,
      row_type = 0 AND newest AND NOT deleted AS live,
      row_type = 1 AND newest AND NOT deleted AS stated,
      if(origin_ver = 0, ver, origin_ver) AS written
    FROM (
      SELECT project_id, trace_id, row_type, id, ver, deleted, parent_span_id, session_id, name, status, started_at, ended_at, duration_ms, cost, has_error,
        if(getSetting('log_comment') = 'bare', CAST(map(), 'Map(LowCardinality(String), String)'), trace_tags) AS trace_tags, if(getSetting('log_comment') = 'bare', CAST(map(), 'Map(LowCardinality(String), String)'), session_tags) AS session_tags, attributes, origin_ver, session_name,
        lagInFrame(ver) OVER (PARTITION BY project_id, trace_id, row_type, id ORDER BY ver DESC) AS next_ver
      FROM facts
      WHERE (project_id, trace_id) IN (SELECT project_id, trace_id FROM touch_traces) AND ver <= (SELECT maxMap(map(project_id, upto)) FROM touch_traces)[project_id]
    )
    WHERE next_ver != ver
  )
  GROUP BY project_id, trace_id
)
) AS figures;

DROP VIEW IF EXISTS recompute_sessions;

ALTER TABLE touch_sessions ADD COLUMN IF NOT EXISTS upto UInt64 DEFAULT 18446744073709551615;

CREATE MATERIALIZED VIEW IF NOT EXISTS recompute_sessions TO sessions AS
WITH
  argMaxIf(p.name, p.name_ver, p.name != '' AND NOT p.stated) AS derived_name,
  anyIf(p.name, p.stated AND NOT p.deleted) AS stated_name,
  mapApply((k, v) -> (k, v.2), maxMapIf(p.tags, NOT p.stated)) AS derived_tags
SELECT
  project_id,
  session_id AS id,
  sum(p.ver) * 2 + (getSetting('log_comment') != 'bare') AS ver,
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
  min(p.created_ver) AS created_ver
FROM (SELECT DISTINCT project_id, session_id FROM touch_sessions) AS t
INNER JOIN (
  SELECT project_id, session_id, ver, named, member, name, name_ver,
    if(getSetting('log_comment') = 'bare', CAST(map(), 'Map(String, Tuple(ver UInt64, value String))'), tags) AS tags, cost, duration_ms, error_count,
    toNullable(started_at) AS started_at, ended_at, created_ver, 0 AS stated, 0 AS deleted, '' AS attributes
  FROM session_traces FINAL
  WHERE (project_id, session_id) IN (SELECT project_id, session_id FROM touch_sessions)
  UNION ALL
  SELECT project_id, session_id, max(s.ver) AS ver, argMax(NOT s.deleted, s.ver) AS named, 0 AS member, argMax(s.name, s.ver) AS name,
    0 AS name_ver, argMax(CAST(mapApply((k, v) -> (k, (toUInt64(0), v)), s.tags), 'Map(String, Tuple(ver UInt64, value String))'), s.ver) AS tags,
    CAST(NULL, 'Nullable(Decimal(38, 12))') AS cost, CAST(NULL, 'Nullable(Float64)') AS duration_ms, 0 AS error_count,
    CAST(NULL, 'Nullable(DateTime64(6, \'UTC\'))') AS started_at, CAST(NULL, 'Nullable(DateTime64(6, \'UTC\'))') AS ended_at, min(s.ver) AS created_ver,
    1 AS stated, argMax(s.deleted, s.ver) AS deleted, argMax(s.attributes, s.ver) AS attributes
  FROM session_statements AS s
  WHERE (project_id, session_id) IN (SELECT project_id, session_id FROM touch_sessions) AND s.ver <= (SELECT maxMap(map(project_id, upto)) FROM touch_sessions)[project_id]
  GROUP BY project_id, session_id
) AS p USING (project_id, session_id)
GROUP BY project_id, session_id;
