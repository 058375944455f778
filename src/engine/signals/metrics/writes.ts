import { REQUEST_SECONDS, type MetricMaker } from './maker.js';

const COMMIT_ROWS = [1, 5, 10, 50, 100, 500, 1000, 2500, 5000, 10_000];
const COMMIT_BYTES = [1, 4, 16, 64, 256, 1024, 4096, 16_384, 65_536].map((kib) => kib * 1024);

/** Writes on their way to disk: group commits, the write-ahead log, and flushes. */
export function writeMetrics({ histogram, counter, gauge }: MetricMaker) {
  return {
    commitRows: histogram('spanhouse_commit_rows', 'Spans per group commit.', COMMIT_ROWS),
    commitBytes: histogram('spanhouse_commit_bytes', 'Bytes per group commit.', COMMIT_BYTES),
    commitDuration: histogram(
      'spanhouse_commit_duration_seconds',
      'Duration of a group commit: to the write-ahead log, or to ClickHouse if there is none.',
      REQUEST_SECONDS,
    ),
    commitQueueBytes: gauge('spanhouse_commit_queue_bytes', 'Bytes of spans waiting to be committed.'),
    commitQueueMaxBytes: gauge(
      'spanhouse_commit_queue_max_bytes',
      'Maximum bytes of spans waiting to be committed (QUEUE_MAX_MB); beyond it, writes are refused.',
    ),
    commitQueueRows: gauge('spanhouse_commit_queue_rows', 'Spans waiting to be committed.'),
    flushRows: histogram('spanhouse_flush_rows', 'Acknowledged spans per insert into ClickHouse.', COMMIT_ROWS),
    flushDuration: histogram(
      'spanhouse_flush_duration_seconds',
      'Duration of an insert of acknowledged spans into ClickHouse.',
      REQUEST_SECONDS,
    ),
    flushFailures: counter('spanhouse_flush_failures_total', 'Failed inserts into ClickHouse; each is retried.'),
    logRows: gauge('spanhouse_write_log_rows', 'Acknowledged spans that are not in ClickHouse yet.'),
    logBytes: gauge('spanhouse_write_log_bytes', 'Bytes of acknowledged spans that are not in ClickHouse yet.'),
    logMaxBytes: gauge(
      'spanhouse_write_log_max_bytes',
      'Maximum bytes of acknowledged spans that are not in ClickHouse yet (WRITE_LOG_MAX_MB); beyond it, writes are ' +
        'refused.',
    ),
  };
}
