import type { AttachmentObserver } from '../domain/attachment/vault.js';
import type { CorrectionObserver } from '../domain/calibration/corrections.js';
import type { FeedbackObserver } from '../domain/feedback/feedback-service.js';
import type { IngestObserver } from '../domain/ingest/ingest-service.js';
import type { JobObserver } from '../domain/job/job-runner.js';
import type { FeedObserver } from '../domain/judge/feed.js';
import type { RunnerObserver } from '../domain/judge/runner.js';
import type { RepriceObserver } from '../domain/price/reprice-service.js';
import type { PromptObserver } from '../domain/prompt/prompt-service.js';
import type { Logger } from './logger.js';
import type { Metrics } from './metrics.js';

/**
 * What happens in the server, one function per event: each writes the log line and moves the metrics that belong to
 * it, so that a call site stays one line and the two never disagree. Layers ask for the narrow interface they need.
 */
export interface Events
  extends
    RequestObserver,
    RpcObserver,
    IngestObserver,
    CommitObserver,
    EngineObserver,
    MigrationObserver,
    QueryObserver,
    RollupObserver,
    PurgeObserver,
    WordIndexObserver,
    AttachmentObserver,
    PromptObserver,
    RepriceObserver,
    FeedbackObserver,
    ReviewObserver,
    JudgeObserver,
    CorrectionObserver,
    JobObserver {}

export interface RequestObserver {
  requestFinished(request: {
    /** The route's template, such as `/spans/{span_id}`; `unmatched` when there is none. */
    readonly route: string;
    readonly method: string;
    readonly status: number;
    readonly seconds: number;
    readonly requestId: string;
  }): void;
  /** A defect: answered 500, logged in full. */
  requestFailed(failure: { readonly requestId: string; readonly error: unknown }): void;
}

export interface RpcObserver {
  rpcFinished(call: {
    /** `/package.Service/Method` */
    readonly method: string;
    /** The name of a gRPC status, such as `OK`. */
    readonly code: string;
    readonly seconds: number;
  }): void;
  /** A defect: answered INTERNAL, logged in full. */
  rpcFailed(failure: { readonly method: string; readonly error: unknown }): void;
}

export interface CommitObserver {
  spansCommitted(commit: { readonly rows: number; readonly bytes: number; readonly seconds: number }): void;
  commitFailed(failure: { readonly rows: number; readonly error: unknown }): void;
  /** What a failed insert left behind is not in order yet; it is tried again. */
  repairFailed(failure: { readonly error: unknown }): void;
  queueChanged(queue: { readonly rows: number; readonly bytes: number }): void;
}

export interface EngineObserver {
  engineReady(engine: { readonly pid?: number; readonly seconds: number }): void;
  /** It crashed, hung or could not be reached. */
  engineLost(loss: { readonly reason: string; readonly pid?: number }): void;
  engineRestarting(restart: { readonly attempt: number; readonly delayMs: number }): void;
  engineStopped(): void;
}

export interface MigrationObserver {
  /** One that rewrites stored rows takes a few seconds per million of them. */
  migrationBegins(migration: { readonly version: number; readonly name: string }): void;
}

export interface QueryObserver {
  queryFinished(query: { readonly list: string; readonly seconds: number }): void;
  queryFailed(failure: { readonly list: string; readonly seconds: number; readonly error: unknown }): void;
}

export interface RollupObserver {
  rollupPending(pending: { readonly traces: number }): void;
  rollupFinished(rollup: { readonly traces: number; readonly seconds: number }): void;
  rollupFailed(failure: { readonly error: unknown }): void;
}

/** How a request to the page of a feedback link ended. */
export type ReviewResult = 'shown' | 'saved' | 'invalid' | 'not_found' | 'forbidden' | 'limited' | 'failed';

export interface ReviewObserver {
  reviewRequested(request: { readonly result: ReviewResult }): void;
}

export interface ModelObserver {
  /** `status`: `ok`, or the code of the failure. */
  modelCalled(call: {
    readonly status: string;
    readonly seconds: number;
    readonly inputTokens: number;
    readonly outputTokens: number;
  }): void;
}

export interface JudgeObserver extends RunnerObserver, FeedObserver, ModelObserver {
  /** US dollars. */
  modelCallsPriced(priced: { readonly cost: number }): void;
  /** @param queue says, whenever it is asked, how many evaluations wait and since when the next one does */
  judgeQueueOpened(queue: () => { readonly queued: number; readonly oldestSeconds: number }): void;
  /** No endpoint is configured, although judges are enabled. */
  judgesNotRunning(idle: { readonly judges: number }): void;
}

export interface PurgeObserver {
  purgeFinished(purge: { readonly versions: number; readonly seconds: number }): void;
  purgeFailed(failure: { readonly error: unknown }): void;
}

export interface WordIndexObserver {
  wordsIndexed(round: { readonly spans: number; readonly seconds: number }): void;
  wordIndexFailed(failure: { readonly error: unknown }): void;
}

export function createEvents(logger: Logger, metrics: Metrics): Events {
  return {
    ...requestEvents(logger, metrics),
    ...rpcEvents(logger, metrics),
    ...ingestEvents(logger, metrics),
    ...commitEvents(logger, metrics),
    ...engineEvents(logger, metrics),
    ...queryEvents(logger, metrics),
    ...rollupEvents(logger, metrics),
    ...purgeEvents(logger, metrics),
    ...wordIndexEvents(logger),
    ...promptEvents(metrics),
    ...repriceEvents(logger, metrics),
    ...judgeEvents(logger, metrics),
    ...attachmentEvents(logger, metrics),
    ...feedbackEvents(metrics),
    ...correctionEvents(metrics),
    ...jobEvents(logger, metrics),
  };
}

function requestEvents(logger: Logger, metrics: Metrics): RequestObserver {
  return {
    requestFinished({ route, method, status, seconds, requestId }) {
      metrics.httpRequestDuration.observe({ method, route, status: String(status) }, seconds);
      const fields = { method, route, status, ms: milliseconds(seconds), request_id: requestId };
      if (status >= 500) logger.warn('Request failed', fields);
      else logger.debug('Request answered', fields);
    },
    requestFailed({ requestId, error }) {
      logger.error('Request met a defect', { request_id: requestId, error });
    },
  };
}

function rpcEvents(logger: Logger, metrics: Metrics): RpcObserver {
  return {
    rpcFinished({ method, code, seconds }) {
      metrics.rpcDuration.observe({ method, code }, seconds);
      logger.debug('Call answered', { method, code, ms: milliseconds(seconds) });
    },
    rpcFailed({ method, error }) {
      logger.error('Call met a defect', { method, error });
    },
  };
}

function ingestEvents(logger: Logger, metrics: Metrics): IngestObserver {
  return {
    spansAccepted({ source, count }) {
      metrics.spansAccepted.inc({ source }, count);
    },
    spansRejected({ source, reason, count }) {
      metrics.spansRejected.inc({ source, reason }, count);
      logger.debug('Spans rejected', { source, reason, count });
    },
  };
}

function commitEvents(logger: Logger, metrics: Metrics): CommitObserver {
  return {
    spansCommitted({ rows, bytes, seconds }) {
      metrics.commitRows.observe(rows);
      metrics.commitBytes.observe(bytes);
      metrics.commitDuration.observe(seconds);
      logger.debug('Spans committed', { rows, bytes, ms: milliseconds(seconds) });
    },
    commitFailed({ rows, error }) {
      logger.warn('Commit failed', { rows, error });
    },
    repairFailed({ error }) {
      logger.warn('The store is not in order yet', { error });
    },
    queueChanged({ rows, bytes }) {
      metrics.commitQueueRows.set(rows);
      metrics.commitQueueBytes.set(bytes);
    },
  };
}

function engineEvents(logger: Logger, metrics: Metrics): EngineObserver & MigrationObserver {
  return {
    migrationBegins({ version, name }) {
      logger.info('Bringing the tables up to date', { version, name });
    },
    engineReady({ pid, seconds }) {
      metrics.engineUp.set(1);
      logger.info('Engine ready', { pid, ms: milliseconds(seconds) });
    },
    engineLost({ reason, pid }) {
      metrics.engineUp.set(0);
      logger.error('Engine lost', { reason, pid });
    },
    engineRestarting({ attempt, delayMs }) {
      metrics.engineRestarts.inc();
      logger.warn('Engine restarting', { attempt, delay_ms: delayMs });
    },
    engineStopped() {
      metrics.engineUp.set(0);
      logger.debug('Engine stopped');
    },
  };
}

function queryEvents(logger: Logger, metrics: Metrics): QueryObserver {
  return {
    queryFinished({ list, seconds }) {
      metrics.queryDuration.observe({ list }, seconds);
    },
    queryFailed({ list, seconds, error }) {
      metrics.queryDuration.observe({ list }, seconds);
      logger.warn('Query failed', { list, ms: milliseconds(seconds), error });
    },
  };
}

function rollupEvents(logger: Logger, metrics: Metrics): RollupObserver {
  return {
    rollupPending({ traces }) {
      metrics.rollupPendingTraces.set(traces);
    },
    rollupFinished({ traces, seconds }) {
      metrics.rollupDuration.observe(seconds);
      logger.debug('Rollups recomputed', { traces, ms: milliseconds(seconds) });
    },
    rollupFailed({ error }) {
      logger.warn('Rollups could not be recomputed', { error });
    },
  };
}

function promptEvents(metrics: Metrics): PromptObserver {
  return {
    promptFetched({ result }) {
      metrics.promptFetches.inc({ result });
    },
  };
}

function repriceEvents(logger: Logger, metrics: Metrics): RepriceObserver {
  return {
    repriceAdvanced({ changed }) {
      metrics.repricedSpans.inc(changed);
    },
    repriceFinished({ id, examined, changed }) {
      logger.info('Costs calculated anew', { job: id, examined, changed });
    },
    repriceFailed({ id, error, final }) {
      if (final) logger.error('Calculating costs anew met a defect', { job: id, error });
      else logger.warn('Calculating costs anew failed; it is tried again', { job: id, error });
    },
  };
}

function judgeEvents(logger: Logger, metrics: Metrics): JudgeObserver {
  return {
    modelCalled({ status, seconds, inputTokens, outputTokens }) {
      metrics.modelCallDuration.observe({ status }, seconds);
      metrics.modelTokens.inc({ direction: 'input' }, inputTokens);
      metrics.modelTokens.inc({ direction: 'output' }, outputTokens);
    },
    modelCallsPriced({ cost }) {
      metrics.modelCost.inc(cost);
    },
    evaluationStored({ result, origin }) {
      metrics.evaluations.inc({ result: result ? 'passed' : 'failed', origin });
    },
    runRetried() {
      metrics.judgeRetries.inc();
    },
    runFailed({ judge, span, reason }) {
      metrics.judgeRunsFailed.inc();
      logger.debug('Evaluation given up', { judge, span, reason });
    },
    judgeQueueOpened(queue) {
      metrics.watchJudgeQueue(() => queue().queued);
      metrics.watchJudgeQueueAge(() => queue().oldestSeconds);
    },
    judgesNotRunning({ judges }) {
      logger.warn('Judges do not run: JUDGE_LLM_BASE_URL is not set', { enabled_judges: judges });
    },
    callSpansLost({ count, error }) {
      logger.warn('Calls of judges could not be stored as spans; their evaluations are', { count, error });
    },
    recordingFailed({ error }) {
      logger.warn('Evaluations could not be stored; they are still queued', { error });
    },
    runnerFailed({ error }) {
      logger.warn('Judges met a failure; they go on', { error });
    },
    feedFailed({ error }) {
      logger.warn('New spans could not be looked at for judges; it is tried again', { error });
    },
  };
}

function correctionEvents(metrics: Metrics): CorrectionObserver {
  return {
    examplesChosen({ examples, seconds }) {
      metrics.judgeExamples.inc(examples);
      metrics.exampleSelectionDuration.observe(seconds);
    },
  };
}

function jobEvents(logger: Logger, metrics: Metrics): JobObserver {
  return {
    jobFinished({ id, kind, result }) {
      metrics.jobsFinished.inc({ kind, result });
      logger.info('Job ended', { job: id, kind, result });
    },
    jobFailed({ id, kind, error, final }) {
      if (final) logger.error('Job met a defect', { job: id, kind, error });
      else logger.warn('Job cannot go on; it is tried again', { job: id, kind, error });
    },
  };
}

function purgeEvents(logger: Logger, metrics: Metrics): PurgeObserver {
  return {
    purgeFinished({ versions, seconds }) {
      metrics.purgedVersions.inc(versions);
      logger.info('Replaced and deleted spans purged', { versions, ms: milliseconds(seconds) });
    },
    purgeFailed({ error }) {
      logger.warn('Purge failed; it is tried again', { error });
    },
  };
}

function wordIndexEvents(logger: Logger): WordIndexObserver {
  return {
    wordsIndexed({ spans, seconds }) {
      logger.debug('Words of spans indexed', { spans, ms: milliseconds(seconds) });
    },
    wordIndexFailed({ error }) {
      logger.warn('Words of spans cannot be indexed; it is tried again, and searches take longer meanwhile', { error });
    },
  };
}

function attachmentEvents(logger: Logger, metrics: Metrics): AttachmentObserver {
  return {
    attachmentStored({ bytes }) {
      metrics.attachmentsStored.inc();
      metrics.attachmentBytesStored.inc(bytes);
    },
    attachmentServed({ bytes }) {
      metrics.attachmentsServed.inc();
      metrics.attachmentBytesServed.inc(bytes);
    },
    attachmentsRemoved({ count }) {
      metrics.attachmentsRemoved.inc(count);
      logger.info('Attachments of deleted spans removed', { count });
    },
    attachmentSweepFailed({ error }) {
      logger.warn('Attachments could not be cleaned up; it is tried again', { error });
    },
    attachmentNotFetched({ host, reason }) {
      logger.info('Attachment not fetched; its URL is kept as a reference', { host, reason });
    },
  };
}

function feedbackEvents(metrics: Metrics): FeedbackObserver & ReviewObserver {
  return {
    feedbackAccepted({ source, thumbsUp }) {
      metrics.feedbackAccepted.inc({ source, thumb: thumbsUp ? 'up' : 'down' });
    },
    reviewRequested({ result }) {
      metrics.reviewRequests.inc({ result });
    },
  };
}

function milliseconds(seconds: number): number {
  return Math.round(seconds * 1e4) / 10;
}
