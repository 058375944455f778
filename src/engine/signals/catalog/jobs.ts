import type { Metrics } from '../metrics.js';
import { catalogOf, measured, milliseconds, signal, type LineName, type LogEvent } from '../signal.js';

/** Work that goes on behind requests. */
export const jobCatalog = catalogOf({
  jobFinished: signal<{ id: string; kind: string; result: 'done' | 'failed' | 'cancelled' }>({
    level: 'info',
    message: 'Job ended',
    when: 'A trial, an optimization, a recalculation of costs or a deletion by filters ended, by `result`.',
    log: ({ id, kind, result }) => ({ job: id, kind, result }),
    count: ({ jobsFinished }, { kind, result }) => jobsFinished.inc({ kind, result }),
  }),
  jobFailed: signal<{ id: string; kind: string; error: unknown }>({
    level: 'error',
    message: 'Job failed with an internal error',
    when: 'A background job failed because of a bug, or made no progress in 20 attempts.',
    action: 'Check the error: if a store did not respond, start the job again; otherwise report it with this line',
    log: ({ id, kind, error }) => ({ job: id, kind, error }),
  }),
  jobRetried: signal<{ id: string; kind: string; error: unknown }>({
    level: 'warn',
    message: 'Job interrupted; retrying',
    when: 'A store did not respond to a background job, which resumes where it was.',
    action: 'Nothing; if it repeats, check /readyz',
    log: ({ id, kind, error }) => ({ job: id, kind, error }),
  }),
  scheduledExportUploaded: signal<{ project: string; id: string; rows: number }>({
    level: 'info',
    message: 'Scheduled export uploaded',
    when: 'An object with `rows` rows of the scheduled export `export_id` is in the bucket.',
    log: ({ project, id, rows }) => ({ project_id: project, export_id: id, rows }),
  }),
  scheduledExportFailed: signal<{ project: string; id: string; error: unknown }>({
    level: 'warn',
    message: 'Scheduled export failed; retrying',
    when: 'The bucket of `EXPORT_TO` or a store did not respond, or the disk is full. The next attempt makes the same object.',
    action: 'Nothing; if it repeats, check the error, the bucket and its keys',
    log: ({ project, id, error }) => ({ project_id: project, export_id: id, error }),
  }),
  backfillBegins: signal<{ projects: number }>({
    level: 'info',
    message: 'Backfilling columns of spans from before an upgrade',
    when: 'At the first start after an upgrade, if such spans remain. Runs in the background.',
    log: ({ projects }) => ({ projects }),
  }),
  backfillFailed: signal<{ error: unknown }>({
    level: 'warn',
    message: 'Could not backfill columns of older spans; retrying',
    when: 'A store did not respond. Until the backfill is done, these columns do not find older spans.',
    action: 'Nothing; if it repeats, check /readyz and disk space',
    log: ({ error }) => ({ error }),
  }),
  backfillFinished: signal<{ changed: number; seconds: number }>({
    level: 'info',
    message: 'Backfilled columns of spans from before an upgrade',
    when: 'All spans from before an upgrade have the new columns.',
    log: ({ changed, seconds }) => ({ spans: changed, ms: milliseconds(seconds) }),
  }),
  retentionFailed: signal<{ project: string | null; error: unknown }>({
    level: 'warn',
    message: 'Could not remove expired traces; retrying',
    when: 'A store did not respond, or the disk had no space for a deletion.',
    action: 'Nothing; if it repeats, check /readyz and disk space',
    log: ({ project, error }) => ({ project_id: project, error }),
  }),
  retentionFinished: signal<{ project: string; traces: number; spans: number; kept: number; seconds: number }>({
    level: 'info',
    message: 'Expired traces removed',
    when: 'Retention finished for a project and removed something.',
    log: ({ project, seconds, traces, spans, kept }) => ({
      project_id: project,
      traces,
      spans,
      kept,
      ms: milliseconds(seconds),
    }),
  }),
  clockAhead: {
    level: 'warn',
    message: 'The clock is ahead of the time that the server can account for; retention is paused',
    when: 'The clock jumped ahead by more than a day (`ahead_s`), or the server was off for longer. Retention resumes after `waits_s`, or immediately when you correct or trust the clock.',
    action:
      'Compare the clock of the machine with the actual time. If it is wrong, correct it; if it is right, as after a long stop, run npm run admin -- trust-clock',
  },
  clockBehind: {
    level: 'warn',
    message: 'The clock is behind a time that it showed before; retention keeps traces longer',
    when: 'The clock was set back by more than an hour (`behind_s`), or is wrong now.',
    action:
      'Compare the clock of the machine with the actual time. If it is wrong, correct it; if it is right, it was wrong before: run npm run admin -- trust-clock',
  },
  clockRight: {
    level: 'info',
    message: 'The clock is trusted again',
    when: 'After clockAhead or clockBehind: the clock was corrected, trusted, or the wait ended.',
  },
  repriceAdvanced: measured<{ changed: number }>(({ repricedSpans }, { changed }) => repricedSpans.inc(changed)),
  backfillAdvanced: measured<{ changed: number }>(({ backfilledSpans }, { changed }) => backfilledSpans.inc(changed)),
  /** Traces went because they were older than their project keeps them. */
  retentionRemoved: measured<{ traces: number; spans: number }>((metrics, { traces, spans }) => {
    metrics.retentionTraces.inc(traces);
    metrics.retentionSpans.inc(spans);
  }),
  /**
   * How much older than allowed the oldest trace is that was due when it was looked for, or for how long removing has failed; 0:
   * nothing is due.
   */
  retentionBehind: measured<{ seconds: number }>(({ retentionBehind }, { seconds }) => retentionBehind.set(seconds)),
});

/** Looks at the clock, which are logged when what they say has changed. */
export function deriveJobs(log: LogEvent<LineName<typeof jobCatalog>>, metrics: Metrics) {
  let logged = 0;
  return {
    /**
     * @param look.aheadSeconds how far it is ahead of the time that can be accounted for, while it is not believed; negative: behind
     * the latest moment that it was believed for; 0: right
     */
    clockLooked({ aheadSeconds, waitSeconds }: { aheadSeconds: number; waitSeconds: number }): void {
      metrics.clockAhead.set(aheadSeconds);
      const state = Math.sign(aheadSeconds);
      if (state === logged) return;
      logged = state;
      if (state > 0) log('clockAhead', { ahead_s: Math.round(aheadSeconds), waits_s: Math.round(waitSeconds) });
      else if (state < 0) log('clockBehind', { behind_s: Math.round(-aheadSeconds) });
      else log('clockRight');
    },
  };
}
