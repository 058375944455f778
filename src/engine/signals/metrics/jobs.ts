import type { MetricMaker } from './maker.js';

/** Background jobs. */
export function jobMetrics({ counter }: MetricMaker) {
  return {
    jobsFinished: counter('spanhouse_jobs_finished_total', 'Background jobs that ended, by kind and result.', [
      'kind',
      'result',
    ]),
    repricedSpans: counter(
      'spanhouse_repriced_spans_total',
      'Stored spans whose cost was changed by a recalculation with new prices.',
    ),
    backfilledSpans: counter(
      'spanhouse_backfilled_spans_total',
      'Stored spans from before an upgrade whose columns for model, tokens and prompt were filled in.',
    ),
  };
}
