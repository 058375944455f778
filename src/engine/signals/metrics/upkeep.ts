import type { MetricMaker } from './maker.js';

/** What the server does by itself: deletions, retention, indexes, and its own traces. */
export function upkeepMetrics({ counter, gauge }: MetricMaker) {
  return {
    ownSpans: counter(
      'spanhouse_own_spans_total',
      "Spans of the server's own traces, by outcome: sent, failed, dropped.",
      ['result'],
    ),
    deletions: counter('spanhouse_deletions_total', 'Completed deletions, by what was deleted: spans or a project.', [
      'what',
    ]),
    purgedVersions: counter(
      'spanhouse_purged_versions_total',
      'Stored versions of spans removed from disk after they were replaced or deleted.',
    ),
    retentionTraces: counter(
      'spanhouse_retention_traces_total',
      "Traces removed because they exceeded their project's retention.",
    ),
    retentionSpans: counter(
      'spanhouse_retention_spans_total',
      "Spans removed with traces that exceeded their project's retention.",
    ),
    retentionBehind: gauge(
      'spanhouse_retention_behind_seconds',
      "How far the oldest trace that retention is removing exceeds its project's retention, or how long removing " +
        'has failed; 0: nothing was due at the last check.',
    ),
    clockAhead: gauge(
      'spanhouse_clock_ahead_seconds',
      'How far the clock is ahead of the time that the server can account for, while retention is paused for that ' +
        'reason; below 0: behind a time that it showed before; 0: right.',
    ),
    erasedAt: gauge(
      'spanhouse_erased_timestamp_seconds',
      'Time of the last complete erasure of deleted and replaced data from the files, in seconds since 1970; 0: ' +
        'none since startup.',
    ),
    wordsIndexedSpans: counter(
      'spanhouse_words_indexed_spans_total',
      'Stored versions of spans whose words were added to the search index.',
    ),
  };
}
