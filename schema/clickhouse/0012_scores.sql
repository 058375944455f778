-- Scores of spans, traces and sessions: one row for each write of a score, and a tombstone where it was deleted. The newest row of an id
-- counts. What is left of earlier ones goes with erasure.
CREATE TABLE IF NOT EXISTS scores (
  ver UInt64 CODEC(Delta(8), ZSTD(1)),
  project_id LowCardinality(String),
  entity_type LowCardinality(String), -- span, trace or session
  entity_id UUID,
  name LowCardinality(String),
  id UUID, -- of entity, name, source and author: what is written again replaces what was there
  deleted UInt8,
  source LowCardinality(String),
  author String CODEC(ZSTD(1)),
  kind LowCardinality(String), -- numeric, boolean, categorical or text; of a tombstone empty
  number Nullable(Float64) CODEC(ZSTD(1)), -- of booleans 0 or 1
  text String CODEC(ZSTD(1)),
  comment String CODEC(ZSTD(1)),
  metadata String CODEC(ZSTD(1)), -- JSON
  received_ver UInt64 CODEC(ZSTD(1)), -- 0: that of the row; else the version that its created_at stands for, of imported scores
  INDEX score_ver ver TYPE minmax GRANULARITY 1,
  INDEX score_ids (id, entity_id) TYPE bloom_filter(0.001) GRANULARITY 8
) ENGINE = MergeTree
ORDER BY (project_id, entity_type, name, entity_id, id)
SETTINGS index_granularity = 512, fsync_after_insert = 1, fsync_part_directory = 1, replicated_deduplication_window = 0, non_replicated_deduplication_window = 0;
