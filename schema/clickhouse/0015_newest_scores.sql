-- The newest score of a name of each trace or session, as lists by scores have asked for it: of its own and those of all that is in it. It follows from
-- other tables and is filled anew by whoever starts, so that it is in no backup and in no move. Of a filling, rows of later generations
-- replace earlier ones. src/engine/traces/list/newest-score-table.ts says which fillings count.
CREATE TABLE IF NOT EXISTS newest_scores (
  project_id LowCardinality(String),
  entity_type LowCardinality(String), -- trace or session
  name LowCardinality(String),
  filling UInt64 CODEC(ZSTD(1)),
  scored UUID,
  generation UInt64 CODEC(ZSTD(1)),
  ver UInt64 CODEC(ZSTD(1)), -- of the score
  kind LowCardinality(String), -- empty: no score any more
  number Nullable(Float64) CODEC(ZSTD(1)),
  text String CODEC(ZSTD(1)),
  from_trace UUID CODEC(ZSTD(1)) -- of a session: the trace that has the score; zero: its own
) ENGINE = ReplacingMergeTree(generation)
ORDER BY (project_id, entity_type, name, filling, scored)
SETTINGS index_granularity = 512, fsync_after_insert = 1, fsync_part_directory = 1;
