import type { BackfillObserver } from '../../features/backfill/call-backfill.js';
import type { JobObserver } from '../../engine/work/job-runner.js';
import type { RepriceObserver } from '../../features/prices/reprice-work.js';
import type { ClockObserver } from '../../features/retention/believed-clock.js';
import type { RetentionObserver } from '../../features/retention/retention-work.js';
import { say } from '../../engine/signals/lines.js';
import type { Logger } from '../../engine/signals/logger.js';
import type { Metrics } from '../../engine/signals/metrics.js';
import { milliseconds } from './milliseconds.js';

/** Work that goes on behind requests. */
export interface JobEvents extends JobObserver, RepriceObserver, BackfillObserver, RetentionObserver, ClockObserver {}

export function jobEvents(logger: Logger, metrics: Metrics): JobEvents {
  return {
    ...runnerEvents(logger, metrics),
    ...repriceEvents(metrics),
    ...backfillEvents(logger, metrics),
    ...retentionEvents(logger, metrics),
    ...clockEvents(logger, metrics),
  };
}

function runnerEvents(logger: Logger, metrics: Metrics): JobObserver {
  return {
    jobFinished({ id, kind, result }) {
      metrics.jobsFinished.inc({ kind, result });
      say(logger, 'jobFinished', { job: id, kind, result });
    },
    jobFailed({ id, kind, error, final }) {
      say(logger, final ? 'jobFailed' : 'jobRetried', { job: id, kind, error });
    },
  };
}

function repriceEvents(metrics: Metrics): RepriceObserver {
  return {
    repriceAdvanced({ changed }) {
      metrics.repricedSpans.inc(changed);
    },
  };
}

function backfillEvents(logger: Logger, metrics: Metrics): BackfillObserver {
  return {
    backfillBegins({ projects }) {
      say(logger, 'backfillBegins', { projects });
    },
    backfillAdvanced({ changed }) {
      metrics.backfilledSpans.inc(changed);
    },
    backfillFailed({ error }) {
      say(logger, 'backfillFailed', { error });
    },
    backfillFinished({ changed, seconds }) {
      say(logger, 'backfillFinished', { spans: changed, ms: milliseconds(seconds) });
    },
  };
}

function retentionEvents(logger: Logger, metrics: Metrics): RetentionObserver {
  return {
    retentionRemoved({ traces, spans }) {
      metrics.retentionTraces.inc(traces);
      metrics.retentionSpans.inc(spans);
    },
    retentionBehind({ seconds }) {
      metrics.retentionBehind.set(seconds);
    },
    retentionFailed({ project, error }) {
      say(logger, 'retentionFailed', { project_id: project, error });
    },
    retentionFinished({ project, traces, spans, kept, seconds }) {
      say(logger, 'retentionFinished', { project_id: project, traces, spans, kept, ms: milliseconds(seconds) });
    },
  };
}

function clockEvents(logger: Logger, metrics: Metrics): ClockObserver {
  let said = 0;
  return {
    clockLooked({ aheadSeconds, waitSeconds }) {
      metrics.clockAhead.set(aheadSeconds);
      const state = Math.sign(aheadSeconds);
      if (state === said) return;
      said = state;
      if (state > 0) say(logger, 'clockAhead', { ahead_s: Math.round(aheadSeconds), waits_s: Math.round(waitSeconds) });
      else if (state < 0) say(logger, 'clockBehind', { behind_s: Math.round(-aheadSeconds) });
      else say(logger, 'clockRight');
    },
  };
}
