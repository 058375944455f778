-- The newest score of a name of each trace or session, as lists by scores have asked for it: of its own and those of all that is in it. It follows from
-- other tables and is filled anew by whoever starts, so that it is in no backup and in no move. Of a filling, the row of the latest generation
-- counts. src/engine/traces/list/newest-score-table.ts says which fillings and generations do.
CREATE TABLE IF NOT EXISTS newest_scores (
  project_id LowCardinality(String),
  entity_type LowCardinality(String), -- trace or session
  name LowCardinality(String),
  filling UInt64 CODEC(ZSTD(1)),
  generation UInt64 CODEC(ZSTD(1)), -- 0: when all was filled in; then what changed
  scored UUID,
  ver UInt64 CODEC(ZSTD(1)), -- of the score
  kind LowCardinality(String), -- empty: no score any more
  number Nullable(Float64) CODEC(ZSTD(1)),
  text String CODEC(ZSTD(1)),
  from_trace UUID CODEC(ZSTD(1)), -- of a session: the trace that has the score; zero: its own
  PROJECTION newest_by_value (
    SELECT project_id, entity_type, name, filling, generation, number, scored
    ORDER BY project_id, entity_type, name, filling, generation, number, scored
  )
) ENGINE = MergeTree
ORDER BY (project_id, entity_type, name, filling, generation, scored)
SETTINGS index_granularity = 512, fsync_after_insert = 1, fsync_part_directory = 1, lightweight_mutation_projection_mode = 'rebuild',
  replicated_deduplication_window = 0, non_replicated_deduplication_window = 0;
