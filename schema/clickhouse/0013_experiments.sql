-- Results of experiments are spans, which their attributes mark: src/engine/traces/model/experiment/mark.ts reads it of them.
ALTER TABLE spans
  ADD COLUMN IF NOT EXISTS experiment_id Nullable(UUID) CODEC(ZSTD(1)), -- null: no mark
  ADD COLUMN IF NOT EXISTS experiment_row String CODEC(ZSTD(1)), -- empty: of the experiment, but no result
  ADD COLUMN IF NOT EXISTS experiment_repetition UInt32 CODEC(ZSTD(1)),
  ADD COLUMN IF NOT EXISTS experiment_trace Nullable(UUID) CODEC(ZSTD(1)); -- null: the result was made in the span's own trace

-- The marked rows of spans, one for each, by experiment. Which of them count is known by their versions, as of spans.
CREATE TABLE IF NOT EXISTS experiment_spans (
  ver UInt64 CODEC(Delta(8), ZSTD(1)),
  project_id LowCardinality(String),
  experiment_id UUID,
  row_id String CODEC(ZSTD(1)),
  repetition UInt32 CODEC(ZSTD(1)),
  id UUID,
  trace_id UUID,
  made_in UUID, -- the trace in which the result was made
  written UInt64 CODEC(ZSTD(1)), -- the version that a client wrote
  received UInt64 CODEC(ZSTD(1)), -- the version that created_at stands for
  started_at DateTime64(6, 'UTC') CODEC(Delta(8), ZSTD(1)),
  duration_ms Nullable(Float64) CODEC(ZSTD(1)),
  cost Nullable(Decimal(38, 12)) CODEC(ZSTD(1)),
  input_tokens Nullable(UInt64) CODEC(ZSTD(1)),
  output_tokens Nullable(UInt64) CODEC(ZSTD(1)),
  has_error UInt8,
  INDEX experiment_span_ver ver TYPE minmax GRANULARITY 1
) ENGINE = MergeTree
ORDER BY (project_id, experiment_id, row_id, repetition)
SETTINGS index_granularity = 1024, fsync_after_insert = 1, fsync_part_directory = 1, replicated_deduplication_window = 0, non_replicated_deduplication_window = 0;

CREATE MATERIALIZED VIEW IF NOT EXISTS experiment_spans_of_spans TO experiment_spans AS
SELECT ver, project_id, assumeNotNull(s.experiment_id) AS experiment_id, experiment_row AS row_id, experiment_repetition AS repetition,
  id, trace_id, ifNull(experiment_trace, trace_id) AS made_in, if(origin_ver = 0, ver, origin_ver) AS written,
  if(received_ver = 0, ver, received_ver) AS received, started_at, duration_ms, cost, input_tokens, output_tokens, has_error
FROM spans AS s WHERE isNotNull(s.experiment_id);
