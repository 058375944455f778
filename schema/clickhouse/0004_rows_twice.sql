-- A row may be there twice, such as when healing and an insert that was still under way both stored it: the further one is
-- the same version, neither a span more nor what takes the place of the first. In the order of versions it comes right
-- behind its like, and has nothing to say.
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
  sumIf(toUInt128(f.ver), f.newest) AS ver,
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
  SELECT *, lagInFrame(ver) OVER (PARTITION BY project_id, trace_id, row_type, id ORDER BY ver DESC) AS next_ver, next_ver = 0 AS newest
  FROM facts
  WHERE (project_id, trace_id) IN (SELECT project_id, trace_id FROM touch_traces)
    AND ver <= (SELECT max(upto) FROM touch_traces)
) AS f USING (project_id, trace_id)
WHERE f.next_ver != f.ver
GROUP BY project_id, trace_id;

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
