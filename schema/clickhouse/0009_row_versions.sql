-- Versions of computed rows do not depend on how much is stored of a trace or session any more: what is left of deleted ones may
-- go. src/storage/clickhouse/rollup/row-version.ts says what a version is made of. They are higher than all from before.
ALTER TABLE touch_sessions ADD COLUMN IF NOT EXISTS round UInt64;

-- The version of the row of which this is a start.
ALTER TABLE trace_starts ADD COLUMN IF NOT EXISTS ver UInt128 CODEC(ZSTD(1));

ALTER TABLE session_starts ADD COLUMN IF NOT EXISTS ver UInt128 CODEC(ZSTD(1));

DROP VIEW IF EXISTS store_trace_starts;

CREATE MATERIALIZED VIEW IF NOT EXISTS store_trace_starts TO trace_starts AS
SELECT project_id, started_at, id, ver FROM traces_recomputed
WHERE NOT gone AND NOT (mapContains(tags, 'spanhouse.judge') OR mapContains(tags, 'spanhouse.calibration') OR mapContains(tags, 'spanhouse.optimization') OR mapContains(tags, 'spanhouse.playground'));

DROP VIEW IF EXISTS store_session_starts;

CREATE MATERIALIZED VIEW IF NOT EXISTS store_session_starts TO session_starts AS
SELECT project_id, created_ver, id, ver FROM sessions WHERE NOT gone;

DROP VIEW IF EXISTS recompute_traces;

CREATE MATERIALIZED VIEW IF NOT EXISTS recompute_traces TO traces_recomputed AS
SELECT figures.* EXCEPT (latest),
  bitShiftLeft(toUInt128(1), 126) + bitShiftLeft(toUInt128(figures.latest), 66) + bitShiftLeft(toUInt128((getSetting('log_comment') != 'bare')), 65) + bitShiftLeft(toUInt128(touched.round), 1) + (getSetting('log_comment') != 'bare') AS ver, touched.round AS round
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
  inputs AS input_tokens,
  outputs AS output_tokens,
  latest,
  stale,
  session_writes
FROM (
  SELECT project_id, trace_id,
    sumIf(cost, live) AS costs,
    countIf(live AND has_error) AS errors,
    minIf(started_at, live) AS first_start,
    min(ver) AS first_ver,
    sumIf(input_tokens, live) AS inputs,
    maxIf(ended_at, live) AS last_end,
    maxIf((written, assumeNotNull(session_id)), live AND isNotNull(session_id)) AS of_session,
    countIf(live AND status = 'ok') AS oks,
    minIf((isNotNull(parent_span_id), started_at, id, name, ver), live) AS oldest,
    sumIf(output_tokens, live) AS outputs,
    countIf(live) AS spans,
    anyIf((session_id, name, status, started_at, ended_at, duration_ms, cost, trace_tags, attributes), stated) AS stated_as,
    countIf(stated) AS statements,
    maxMapIf(mapApply((k, v) -> (k, (written, v)), trace_tags), live) AS tag_writes,
    max(ver) AS latest,
    groupArrayIf((ver, next_ver), NOT newest AND row_type = 0) AS stale,
    groupArrayIf((session_id, toUInt8(newest AND NOT deleted), written, session_name, CAST(session_tags, 'Map(String, String)')),
      isNotNull(session_id) OR (newest AND NOT deleted AND (session_name != '' OR notEmpty(session_tags)))) AS session_writes
  FROM (
    SELECT *, next_ver = 0 AS newest,
      row_type = 0 AND newest AND NOT deleted AS live,
      row_type = 1 AND newest AND NOT deleted AS stated,
      if(origin_ver = 0, ver, origin_ver) AS written
    FROM (
      SELECT project_id, trace_id, row_type, id, ver, deleted, parent_span_id, session_id, name, status, started_at, ended_at, duration_ms, cost, input_tokens, output_tokens, has_error,
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

DROP VIEW IF EXISTS store_session_traces;

CREATE MATERIALIZED VIEW IF NOT EXISTS store_session_traces TO session_traces AS
SELECT
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
  any(r.output_tokens) AS output_tokens,
  any(r.ver) AS ver,
  any(r.round) AS round
FROM (SELECT * FROM traces_recomputed) AS r
ARRAY JOIN session_writes AS w
WHERE isNotNull(coalesce(w.session_id, r.session_id))
GROUP BY project_id, session_id, trace_id;

DROP VIEW IF EXISTS recompute_sessions;

CREATE MATERIALIZED VIEW IF NOT EXISTS recompute_sessions TO sessions AS
WITH
  argMaxIf(p.name, p.name_ver, p.name != '' AND NOT p.stated) AS derived_name,
  anyIf(p.name, p.stated AND NOT p.deleted) AS stated_name,
  mapApply((k, v) -> (k, v.2), maxMapIf(p.tags, NOT p.stated)) AS derived_tags
SELECT
  project_id,
  session_id AS id,
  bitShiftLeft(toUInt128(1), 126) + bitShiftLeft(toUInt128((SELECT max(round) FROM touch_sessions)), 66) + bitShiftLeft(toUInt128((getSetting('log_comment') != 'bare')), 65) + bitShiftLeft(toUInt128(0), 1) + (getSetting('log_comment') != 'bare') AS ver,
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
FROM (SELECT DISTINCT project_id, session_id FROM touch_sessions) AS t
INNER JOIN (
  SELECT project_id, session_id, named, member, name, name_ver,
    if(getSetting('log_comment') = 'bare', CAST(map(), 'Map(String, Tuple(ver UInt64, value String))'), tags) AS tags, cost, duration_ms, error_count,
    toNullable(started_at) AS started_at, ended_at, created_ver, input_tokens, output_tokens, 0 AS stated, 0 AS deleted, '' AS attributes
  FROM session_traces FINAL
  WHERE (project_id, session_id) IN (SELECT project_id, session_id FROM touch_sessions)
  UNION ALL
  SELECT project_id, session_id, argMax(NOT s.deleted, s.ver) AS named, 0 AS member, argMax(s.name, s.ver) AS name,
    0 AS name_ver, argMax(CAST(mapApply((k, v) -> (k, (toUInt64(0), v)), s.tags), 'Map(String, Tuple(ver UInt64, value String))'), s.ver) AS tags,
    CAST(NULL, 'Nullable(Decimal(38, 12))') AS cost, CAST(NULL, 'Nullable(Float64)') AS duration_ms, 0 AS error_count,
    CAST(NULL, 'Nullable(DateTime64(6, \'UTC\'))') AS started_at, CAST(NULL, 'Nullable(DateTime64(6, \'UTC\'))') AS ended_at, min(s.ver) AS created_ver,
    CAST(NULL, 'Nullable(UInt64)') AS input_tokens, CAST(NULL, 'Nullable(UInt64)') AS output_tokens, 1 AS stated, argMax(s.deleted, s.ver) AS deleted, argMax(s.attributes, s.ver) AS attributes
  FROM session_statements AS s
  WHERE (project_id, session_id) IN (SELECT project_id, session_id FROM touch_sessions) AND s.ver <= (SELECT maxMap(map(project_id, upto)) FROM touch_sessions)[project_id]
  GROUP BY project_id, session_id
) AS p USING (project_id, session_id)
GROUP BY project_id, session_id;
