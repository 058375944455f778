import { REQUEST_SECONDS, type MetricMaker } from './maker.js';

/** Lists, and the rollups that they read. */
export function rollupMetrics({ histogram, counter, gauge }: MetricMaker) {
  return {
    queryDuration: histogram(
      'spanhouse_query_duration_seconds',
      'Duration of a list query, by list: spans, traces, sessions.',
      REQUEST_SECONDS,
      ['list'],
    ),
    rollupPendingTraces: gauge(
      'spanhouse_rollup_pending_traces',
      'Changed traces that wait for their rollup (counts, costs, durations, tags).',
    ),
    rollupSetAsideTraces: gauge(
      'spanhouse_rollup_set_aside_traces',
      'Traces too large for one rollup with the available memory: stored without tags of their spans, or with ' +
        'outdated figures.',
    ),
    rollupSetAsideSessions: gauge(
      'spanhouse_rollup_set_aside_sessions',
      'Sessions too large for one rollup with the available memory: stored without tags of their spans, or with ' +
        'outdated figures.',
    ),
    rollupSetAside: counter(
      'spanhouse_rollup_set_aside_total',
      'How often a trace or session was too large for one rollup, with its tags or even without, by kind.',
      ['kind'],
    ),
    rollupDuration: histogram(
      'spanhouse_rollup_duration_seconds',
      'Duration of a rollup round, which recomputes changed traces and their sessions.',
      REQUEST_SECONDS,
    ),
  };
}
