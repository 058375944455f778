-- Every statement can be run again without harm: ClickHouse has no transactions, and a crash may come between two.

-- Spans as they came in, one row per write, in time order. A re-sent span is a further row with a higher `ver`; which
-- versions no longer count is recorded in `superseded`, so that no read of this wide table ever needs FINAL.
-- `ver` is a hybrid clock: microseconds since 2025-01-01T00:00:00Z, unique per row and growing with every commit.
-- Partitions follow the time of writing, so that one insert makes one part whatever times its spans have.
-- Plain MergeTree on purpose: a version that a read still counts on must not vanish in a merge; purging removes it later.
CREATE TABLE IF NOT EXISTS spans (
  ver UInt64 CODEC(Delta, ZSTD(1)),
  project_id LowCardinality(String),
  trace_id UUID,
  id UUID,
  parent_span_id Nullable(UUID),
  session_id Nullable(UUID),
  session_name String CODEC(ZSTD(1)),
  name LowCardinality(String),
  kind LowCardinality(String),
  status LowCardinality(String), -- empty: null
  started_at DateTime64(6, 'UTC') CODEC(Delta, ZSTD(1)),
  ended_at Nullable(DateTime64(6, 'UTC')) CODEC(ZSTD(1)),
  duration_ms Nullable(Float64) CODEC(ZSTD(1)),
  cost Nullable(Decimal(38, 12)) CODEC(ZSTD(1)),
  input_data Nullable(String) CODEC(ZSTD(1)),
  output_data Nullable(String) CODEC(ZSTD(1)),
  attributes String CODEC(ZSTD(1)), -- JSON text
  tags Map(LowCardinality(String), String),
  trace_tags Map(LowCardinality(String), String),
  session_tags Map(LowCardinality(String), String),
  error_code Nullable(String) CODEC(ZSTD(1)),
  error_message Nullable(String) CODEC(ZSTD(1)),
  error_stack Nullable(String) CODEC(ZSTD(1)),
  code_filepath Nullable(String) CODEC(ZSTD(1)),
  code_lineno Nullable(Int64) CODEC(ZSTD(1)),
  has_error UInt8,
  cost_calculated UInt8, -- 1: the cost was calculated, not sent; also null costs may be calculated later
  -- A version that Spanhouse wrote itself, such as with another price: the version that the client wrote. 0: its own.
  origin_ver UInt64 CODEC(ZSTD(1)),
  -- Few indexes over several columns each (one filter per column): every index is two more files to sync per commit.
  INDEX span_own_ids (id, parent_span_id) TYPE bloom_filter(0.001) GRANULARITY 8,
  INDEX span_shared_values (trace_id, session_id, mapValues(tags)) TYPE bloom_filter(0.001) GRANULARITY 8,
  INDEX span_ver ver TYPE minmax GRANULARITY 1
) ENGINE = MergeTree
PARTITION BY toYYYYMM(toDateTime(1735689600 + intDiv(ver, 1000000), 'UTC'))
ORDER BY (project_id, started_at, trace_id, id)
SETTINGS index_granularity = 256, fsync_after_insert = 1, fsync_part_directory = 1;

-- What the rollups need of every write, in trace order: spans (row_type 0), statements about traces that were posted
-- (row_type 1, id = trace_id), and tombstones of both (deleted = 1). Plain MergeTree on purpose: no merge may hide a
-- version before the rollup has seen it.
CREATE TABLE IF NOT EXISTS facts (
  project_id LowCardinality(String),
  trace_id UUID,
  row_type UInt8,
  id UUID,
  ver UInt64 CODEC(Delta, ZSTD(1)),
  deleted UInt8,
  parent_span_id Nullable(UUID),
  session_id Nullable(UUID),
  session_name String,
  name LowCardinality(String),
  status LowCardinality(String),
  started_at DateTime64(6, 'UTC'),
  ended_at Nullable(DateTime64(6, 'UTC')),
  duration_ms Nullable(Float64),
  cost Nullable(Decimal(38, 12)),
  has_error UInt8,
  trace_tags Map(LowCardinality(String), String),
  session_tags Map(LowCardinality(String), String),
  attributes String CODEC(ZSTD(1)), -- of statements only
  origin_ver UInt64 CODEC(ZSTD(1)), -- as in spans
  INDEX fact_ver ver TYPE minmax GRANULARITY 1
) ENGINE = MergeTree
ORDER BY (project_id, trace_id, row_type, id)
PRIMARY KEY (project_id, trace_id)
SETTINGS index_granularity = 128, fsync_after_insert = 1, fsync_part_directory = 1;

CREATE MATERIALIZED VIEW IF NOT EXISTS facts_of_spans TO facts AS
SELECT project_id, trace_id, 0 AS row_type, id, ver, 0 AS deleted, parent_span_id, session_id, session_name, name, status,
  started_at, ended_at, cost, has_error, trace_tags, session_tags, origin_ver
FROM spans;

-- One row per trace, recomputed as a whole. Its version is the sum of the latest version of everything in the trace: it
-- grows with every fact seen and with nothing else, so that recomputing twice, late or concurrently does no harm.
CREATE TABLE IF NOT EXISTS traces (
  project_id LowCardinality(String),
  id UUID,
  ver UInt128,
  gone UInt8,
  session_id Nullable(UUID),
  name LowCardinality(String),
  status LowCardinality(String),
  started_at DateTime64(6, 'UTC'),
  ended_at Nullable(DateTime64(6, 'UTC')),
  duration_ms Nullable(Float64),
  cost Nullable(Decimal(38, 12)),
  span_count UInt64,
  error_count UInt64,
  tags Map(LowCardinality(String), String),
  attributes String CODEC(ZSTD(1)),
  created_ver UInt64,
  root_ver UInt64, -- 0: no root span yet
  root_started_at DateTime64(6, 'UTC')
) ENGINE = ReplacingMergeTree(ver)
ORDER BY (project_id, id)
SETTINGS index_granularity = 512, fsync_after_insert = 1, fsync_part_directory = 1;

-- Every start that a trace ever had, in time order: where the newest traces are found without reading all of them.
CREATE TABLE IF NOT EXISTS trace_starts (
  project_id LowCardinality(String),
  started_at DateTime64(6, 'UTC') CODEC(Delta, ZSTD(1)),
  id UUID
) ENGINE = ReplacingMergeTree
ORDER BY (project_id, started_at, id)
SETTINGS index_granularity = 512, fsync_after_insert = 1, fsync_part_directory = 1;

-- Span versions that no longer count, until purging has removed them from `spans`. `next_ver` is the version that took
-- the place: for a read of the state at a version below it, the old one still counts.
CREATE TABLE IF NOT EXISTS superseded (
  project_id LowCardinality(String),
  ver UInt64 CODEC(Delta, ZSTD(1)),
  next_ver UInt64 CODEC(Delta, ZSTD(1))
) ENGINE = ReplacingMergeTree
ORDER BY (project_id, ver)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;

-- What a trace brings to each session that any write in it ever named; `member` for the one it now belongs to.
CREATE TABLE IF NOT EXISTS session_traces (
  project_id LowCardinality(String),
  session_id UUID,
  trace_id UUID,
  ver UInt128,
  named UInt8,
  member UInt8,
  name String,
  name_ver UInt64,
  tags Map(String, Tuple(ver UInt64, value String)),
  cost Nullable(Decimal(38, 12)),
  duration_ms Nullable(Float64),
  error_count UInt64,
  started_at DateTime64(6, 'UTC'),
  ended_at Nullable(DateTime64(6, 'UTC')),
  created_ver UInt64,
  round UInt64 CODEC(Delta, ZSTD(1)),
  INDEX session_trace_round round TYPE minmax GRANULARITY 1
) ENGINE = ReplacingMergeTree(ver)
ORDER BY (project_id, session_id, trace_id)
PRIMARY KEY (project_id, session_id)
SETTINGS index_granularity = 256, fsync_after_insert = 1, fsync_part_directory = 1;

-- Statements about sessions that were posted, every version of them, and their tombstones.
CREATE TABLE IF NOT EXISTS session_statements (
  project_id LowCardinality(String),
  session_id UUID,
  ver UInt64,
  deleted UInt8,
  name String,
  tags Map(LowCardinality(String), String),
  attributes String CODEC(ZSTD(1))
) ENGINE = MergeTree
ORDER BY (project_id, session_id)
SETTINGS index_granularity = 256, fsync_after_insert = 1, fsync_part_directory = 1;

CREATE TABLE IF NOT EXISTS sessions (
  project_id LowCardinality(String),
  id UUID,
  ver UInt128,
  gone UInt8,
  name String,
  trace_count UInt64,
  error_count UInt64,
  cost Nullable(Decimal(38, 12)),
  duration Nullable(Float64),
  started_at Nullable(DateTime64(6, 'UTC')),
  ended_at Nullable(DateTime64(6, 'UTC')),
  tags Map(LowCardinality(String), String),
  attributes String CODEC(ZSTD(1)),
  created_ver UInt64
) ENGINE = ReplacingMergeTree(ver)
ORDER BY (project_id, id)
SETTINGS index_granularity = 512, fsync_after_insert = 1, fsync_part_directory = 1;

CREATE TABLE IF NOT EXISTS session_starts (
  project_id LowCardinality(String),
  created_ver UInt64 CODEC(Delta, ZSTD(1)),
  id UUID
) ENGINE = ReplacingMergeTree
ORDER BY (project_id, created_ver, id)
SETTINGS index_granularity = 512, fsync_after_insert = 1, fsync_part_directory = 1;

-- Naming a trace here recomputes it from its facts with `ver` up to `upto`, the last commit known to be complete.
-- `round` marks what was recomputed together, to find the sessions that it concerns.
CREATE TABLE IF NOT EXISTS touch_traces (project_id LowCardinality(String), trace_id UUID, upto UInt64, round UInt64) ENGINE = Null;

CREATE TABLE IF NOT EXISTS traces_recomputed (
  project_id LowCardinality(String),
  id UUID,
  ver UInt128,
  gone UInt8,
  session_id Nullable(UUID),
  name LowCardinality(String),
  status LowCardinality(String),
  started_at DateTime64(6, 'UTC'),
  ended_at Nullable(DateTime64(6, 'UTC')),
  duration_ms Nullable(Float64),
  cost Nullable(Decimal(38, 12)),
  span_count UInt64,
  error_count UInt64,
  tags Map(LowCardinality(String), String),
  attributes String,
  created_ver UInt64,
  root_ver UInt64,
  root_started_at DateTime64(6, 'UTC'),
  round UInt64,
  stale Array(Tuple(ver UInt64, next_ver UInt64)),
  session_writes Array(Tuple(session_id Nullable(UUID), live UInt8, ver UInt64, name String, tags Map(String, String)))
) ENGINE = Null;

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
GROUP BY project_id, trace_id;

CREATE MATERIALIZED VIEW IF NOT EXISTS store_traces TO traces AS
SELECT * EXCEPT (round, stale, session_writes) FROM traces_recomputed;

CREATE MATERIALIZED VIEW IF NOT EXISTS store_trace_starts TO trace_starts AS
SELECT project_id, started_at, id FROM traces_recomputed WHERE NOT gone;

CREATE MATERIALIZED VIEW IF NOT EXISTS store_superseded TO superseded AS
SELECT project_id, s.ver AS ver, s.next_ver AS next_ver FROM (SELECT project_id, stale FROM traces_recomputed) ARRAY JOIN stale AS s;

-- A session tag or name that a span brings without naming a session goes to its trace's session.
CREATE MATERIALIZED VIEW IF NOT EXISTS store_session_traces TO session_traces AS
SELECT
  project_id,
  assumeNotNull(coalesce(w.session_id, r.session_id)) AS session_id,
  r.id AS trace_id,
  any(r.ver) AS ver,
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
  any(r.round) AS round
FROM (SELECT * FROM traces_recomputed) AS r
ARRAY JOIN session_writes AS w
WHERE isNotNull(coalesce(w.session_id, r.session_id))
GROUP BY project_id, session_id, trace_id;

-- Naming a session here recomputes it from what its traces bring and from what was stated about it.
CREATE TABLE IF NOT EXISTS touch_sessions (project_id LowCardinality(String), session_id UUID) ENGINE = Null;

CREATE MATERIALIZED VIEW IF NOT EXISTS recompute_sessions TO sessions AS
WITH
  argMaxIf(p.name, p.name_ver, p.name != '' AND NOT p.stated) AS derived_name,
  anyIf(p.name, p.stated AND NOT p.deleted) AS stated_name,
  mapApply((k, v) -> (k, v.2), maxMapIf(p.tags, NOT p.stated)) AS derived_tags
SELECT
  project_id,
  session_id AS id,
  sum(p.ver) AS ver,
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
  SELECT project_id, session_id, ver, named, member, name, name_ver, tags, cost, duration_ms, error_count,
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

CREATE MATERIALIZED VIEW IF NOT EXISTS store_session_starts TO session_starts AS
SELECT project_id, created_ver, id FROM sessions WHERE NOT gone;

-- Up to which version every commit is rolled up; healing at start begins here.
CREATE TABLE IF NOT EXISTS rolled_up (name LowCardinality(String), ver UInt64) ENGINE = ReplacingMergeTree(ver) ORDER BY name
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;
