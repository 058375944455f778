-- One tombstone removes a whole trace (facts with row_type 2): no earlier fact of the trace counts any more.
-- src/storage/clickhouse/read/visibility.ts has the rule. What is stored stays as it is.
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
    min(if(row_type = 2, origin_ver, ver)) AS first_ver,
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
    groupArrayIf((ver, next_ver), NOT newest AND (row_type = 0 OR (row_type = 1 AND removed != 0))) AS stale,
    groupArrayIf((session_id, toUInt8(newest AND NOT deleted), written, session_name, CAST(session_tags, 'Map(String, String)')),
      isNotNull(session_id) OR (newest AND NOT deleted AND (session_name != '' OR notEmpty(session_tags)))) AS session_writes
  FROM (
    SELECT *, next_ver = 0 AS newest,
      row_type = 0 AND newest AND NOT deleted AS live,
      row_type = 1 AND newest AND NOT deleted AS stated,
      if(origin_ver = 0, ver, origin_ver) AS written
    FROM (
      SELECT ver, project_id, trace_id, row_type, id, deleted, parent_span_id, session_id, name, status, started_at, ended_at, duration_ms, cost, input_tokens, output_tokens, has_error,
        if(getSetting('log_comment') = 'bare', CAST(map(), 'Map(LowCardinality(String), String)'), trace_tags) AS trace_tags, if(getSetting('log_comment') = 'bare', CAST(map(), 'Map(LowCardinality(String), String)'), session_tags) AS session_tags, attributes, origin_ver, session_name,
        lagInFrame(ver) OVER (PARTITION BY project_id, trace_id, row_type, id ORDER BY ver DESC) AS next_write,
        minIf(ver, row_type = 2) OVER (PARTITION BY project_id, trace_id ORDER BY ver DESC) AS removed,
        if(row_type = 2 OR removed = 0 OR (next_write != 0 AND next_write < removed), next_write, removed) AS next_ver
      FROM facts
      WHERE (project_id, trace_id) IN (SELECT project_id, trace_id FROM touch_traces) AND ver <= (SELECT maxMap(map(project_id, upto)) FROM touch_traces)[project_id]
    )
    WHERE next_write != ver
  )
  GROUP BY project_id, trace_id
)
) AS figures;

-- Traces whose latest fact removed them are stored without reading what does not count any more.
CREATE TABLE IF NOT EXISTS touch_removed_traces (project_id LowCardinality(String), trace_id UUID, upto UInt64, round UInt64) ENGINE = Null;

CREATE MATERIALIZED VIEW IF NOT EXISTS recompute_removed_traces TO traces_recomputed AS
SELECT own.project_id AS project_id, own.trace_id AS id, 1 AS gone, 'unset' AS status, own.created_ver AS created_ver,
  bitShiftLeft(toUInt128(1), 126) + bitShiftLeft(toUInt128(own.latest), 66) + bitShiftLeft(toUInt128(1), 65) + bitShiftLeft(toUInt128(touched.round), 1) + 1 AS ver, touched.round AS round,
  stale, CAST(session_writes, 'Array(Tuple(session_id Nullable(UUID), live UInt8, ver UInt64, name String, tags Map(String, String)))') AS session_writes
FROM (SELECT max(round) AS round FROM touch_removed_traces) AS touched
CROSS JOIN (
  SELECT project_id, trace_id, min(if(row_type = 2, origin_ver, ver)) AS created_ver,
    max(ver) AS latest,
    groupArrayIf((ver, next_ver), row_type < 2) AS stale,
    throwIf(latest != maxIf(ver, row_type = 2), 'the latest fact of a trace is no tombstone') AS wrong,
    groupArrayIf((session_id, 0, if(origin_ver = 0, ver, origin_ver), '', CAST(map(), 'Map(String, String)')), isNotNull(session_id)) AS session_writes
  FROM (
    SELECT ver, project_id, trace_id, row_type, id, session_id, origin_ver,
        lagInFrame(ver) OVER (PARTITION BY project_id, trace_id, row_type, id ORDER BY ver DESC) AS next_write,
        minIf(ver, row_type = 2) OVER (PARTITION BY project_id, trace_id ORDER BY ver DESC) AS removed,
        if(row_type = 2 OR removed = 0 OR (next_write != 0 AND next_write < removed), next_write, removed) AS next_ver
      FROM facts
      WHERE (project_id, trace_id) IN (SELECT project_id, trace_id FROM touch_removed_traces) AND ver <= (SELECT maxMap(map(project_id, upto)) FROM touch_removed_traces)[project_id]
  )
  WHERE next_write != ver
  GROUP BY project_id, trace_id
  HAVING wrong = 0
) AS own;
