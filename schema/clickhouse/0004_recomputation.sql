-- A row may be there twice, such as when healing and an insert that was still under way both stored it: the further one is
-- the same version, neither a span more nor what takes the place of the first. In the order of versions it comes right
-- behind its like, and has nothing to say.
-- A trace whose tags are too much for the engine's memory is recomputed without them, when the statement that names it says
-- so (`log_comment` = 'bare'): columns that a constant condition rules out are not read. Its version is then the lesser of
-- two, so that with the tags it takes the place of the same without.
DROP VIEW IF EXISTS recompute_traces;

CREATE MATERIALIZED VIEW IF NOT EXISTS recompute_traces TO traces_recomputed AS
WITH
  f.newest AND f.row_type = 0 AND f.deleted = 0 AS live,
  live AND isNull(f.parent_span_id) AS root,
  f.newest AND f.row_type = 1 AND f.deleted = 0 AS stated,
  (f.started_at, f.id) AS age,
  -- of several writes the later wins, and a price calculated anew is no write
  if(f.origin_ver = 0, f.ver, f.origin_ver) AS written,
  countIf(stated) AS statements,
  argMaxIf(f.session_id, written, live AND isNotNull(f.session_id)) AS derived_session,
  if(countIf(root) > 0, argMinIf(f.name, age, root), argMinIf(f.name, age, live)) AS derived_name,
  multiIf(countIf(live AND f.has_error) > 0, 'error', countIf(live AND f.status = 'ok') > 0, 'ok', 'unset') AS derived_status,
  mapApply((k, v) -> (k, v.2), maxMapIf(mapApply((k, v) -> (k, (written, v)), f.trace_tags), live)) AS derived_tags,
  maxIf(f.ended_at, live) AS derived_end,
  anyIf(f.ended_at, stated) AS stated_end,
  anyIf(f.duration_ms, stated) AS stated_duration,
  anyIf(f.cost, stated) AS stated_cost,
  anyIf(f.status, stated) AS stated_status
SELECT
  project_id,
  trace_id AS id,
  sumIf(toUInt128(f.ver), f.newest) * 2 + (getSetting('log_comment') != 'bare') AS ver,
  span_count = 0 AND statements = 0 AS gone,
  coalesce(anyIf(f.session_id, stated), derived_session) AS session_id,
  if(statements > 0, anyIf(f.name, stated), derived_name) AS name,
  if(stated_status != '', stated_status, derived_status) AS status,
  if(statements > 0, anyIf(f.started_at, stated), minIf(f.started_at, live)) AS started_at,
  coalesce(stated_end, derived_end) AS ended_at,
  coalesce(stated_duration, if(ended_at < started_at, 0, dateDiff('microsecond', started_at, ended_at) / 1000)) AS duration_ms,
  coalesce(stated_cost, sumIf(f.cost, live)) AS cost,
  countIf(live) AS span_count,
  countIf(live AND f.has_error) AS error_count,
  mapUpdate(derived_tags, anyIf(f.trace_tags, stated)) AS tags,
  anyIf(f.attributes, stated) AS attributes,
  min(f.ver) AS created_ver,
  argMinIf(f.ver, age, root) AS root_ver,
  argMinIf(f.started_at, age, root) AS root_started_at,
  any(t.round) AS round,
  groupArrayIf((f.ver, f.next_ver), NOT f.newest AND f.row_type = 0) AS stale,
  groupArrayIf((f.session_id, toUInt8(f.newest AND f.deleted = 0), written, f.session_name, CAST(f.session_tags, 'Map(String, String)')),
    isNotNull(f.session_id) OR (f.newest AND f.deleted = 0 AND (f.session_name != '' OR notEmpty(f.session_tags)))) AS session_writes
FROM (SELECT project_id, trace_id, max(round) AS round FROM touch_traces GROUP BY project_id, trace_id) AS t
INNER JOIN (
  SELECT * REPLACE (
      if(getSetting('log_comment') = 'bare', CAST(map(), 'Map(LowCardinality(String), String)'), trace_tags) AS trace_tags,
      if(getSetting('log_comment') = 'bare', CAST(map(), 'Map(LowCardinality(String), String)'), session_tags) AS session_tags),
    lagInFrame(ver) OVER (PARTITION BY project_id, trace_id, row_type, id ORDER BY ver DESC) AS next_ver, next_ver = 0 AS newest
  FROM facts
  WHERE (project_id, trace_id) IN (SELECT project_id, trace_id FROM touch_traces)
    AND ver <= (SELECT max(upto) FROM touch_traces)
) AS f USING (project_id, trace_id)
WHERE f.next_ver != f.ver
GROUP BY project_id, trace_id;

-- As above, of sessions.
DROP VIEW IF EXISTS recompute_sessions;

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
  WHERE (project_id, session_id) IN (SELECT project_id, session_id FROM touch_sessions)
  GROUP BY project_id, session_id
) AS p USING (project_id, session_id)
GROUP BY project_id, session_id;

-- Traces and sessions that cannot be recomputed as a whole, and are tried again from time to time.
CREATE TABLE IF NOT EXISTS set_aside (
  project_id LowCardinality(String),
  kind LowCardinality(String), -- trace, session
  id UUID,
  ver UInt64,
  aside UInt8, -- 0: no longer
  stale UInt8 -- 1: not even without its tags
) ENGINE = ReplacingMergeTree(ver)
ORDER BY (project_id, kind, id)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;

-- Naming the same trace or session again has to recompute it again. ClickHouse takes equal blocks for repetitions of one
-- insert, also in views, on replicated tables by itself; statements say otherwise, and so do the tables.
ALTER TABLE spans MODIFY SETTING replicated_deduplication_window = 0, non_replicated_deduplication_window = 0;
ALTER TABLE facts MODIFY SETTING replicated_deduplication_window = 0, non_replicated_deduplication_window = 0;
ALTER TABLE traces MODIFY SETTING replicated_deduplication_window = 0, non_replicated_deduplication_window = 0;
ALTER TABLE trace_starts MODIFY SETTING replicated_deduplication_window = 0, non_replicated_deduplication_window = 0;
ALTER TABLE superseded MODIFY SETTING replicated_deduplication_window = 0, non_replicated_deduplication_window = 0;
ALTER TABLE session_traces MODIFY SETTING replicated_deduplication_window = 0, non_replicated_deduplication_window = 0;
ALTER TABLE session_statements MODIFY SETTING replicated_deduplication_window = 0, non_replicated_deduplication_window = 0;
ALTER TABLE sessions MODIFY SETTING replicated_deduplication_window = 0, non_replicated_deduplication_window = 0;
ALTER TABLE session_starts MODIFY SETTING replicated_deduplication_window = 0, non_replicated_deduplication_window = 0;
ALTER TABLE rolled_up MODIFY SETTING replicated_deduplication_window = 0, non_replicated_deduplication_window = 0;
ALTER TABLE span_words MODIFY SETTING replicated_deduplication_window = 0, non_replicated_deduplication_window = 0;
ALTER TABLE set_aside MODIFY SETTING replicated_deduplication_window = 0, non_replicated_deduplication_window = 0;
