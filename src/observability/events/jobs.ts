import type { BackfillObserver } from '../../domain/backfill/call-backfill.js';
import type { JobObserver } from '../../domain/job/job-runner.js';
import type { RepriceObserver } from '../../domain/price/reprice-work.js';
import type { RetentionObserver } from '../../domain/retention/retention-work.js';
import type { Logger } from '../logger.js';
import type { Metrics } from '../metrics.js';
import { milliseconds } from './milliseconds.js';

/** Work that goes on behind requests. */
export interface JobEvents extends JobObserver, RepriceObserver, BackfillObserver, RetentionObserver {}

export function jobEvents(logger: Logger, metrics: Metrics): JobEvents {
  return {
    ...runnerEvents(logger, metrics),
    ...repriceEvents(metrics),
    ...backfillEvents(logger, metrics),
    ...retentionEvents(logger, metrics),
  };
}

function runnerEvents(logger: Logger, metrics: Metrics): JobObserver {
  return {
    jobFinished({ id, kind, result }) {
      metrics.jobsFinished.inc({ kind, result });
      logger.info('Job ended', { job: id, kind, result });
    },
    jobFailed({ id, kind, error, final }) {
      if (final) logger.error('Job failed with an internal error', { job: id, kind, error });
      else logger.warn('Job could not go on; it will be tried again', { job: id, kind, error });
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
      logger.info('Columns of spans from before an upgrade are filled in, in the background', { projects });
    },
    backfillAdvanced({ changed }) {
      metrics.backfilledSpans.inc(changed);
    },
    backfillFailed({ error }) {
      logger.warn('Columns of older spans could not be filled in; it will be tried again', { error });
    },
    backfillFinished({ changed, seconds }) {
      logger.info('Columns of spans from before an upgrade are filled in', {
        spans: changed,
        ms: milliseconds(seconds),
      });
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
      logger.warn('Traces older than their project keeps them could not be removed; it will be tried again', {
        project_id: project,
        error,
      });
    },
    retentionFinished({ project, traces, spans, kept, seconds }) {
      logger.info('Traces older than their project keeps them removed', {
        ...{ project_id: project, traces, spans, kept },
        ms: milliseconds(seconds),
      });
    },
  };
}
