import { LRUCache } from 'lru-cache';
import type { CorrectionObserver } from '../../domain/learning/calibration/correction-examples.js';
import type { FeedObserver } from '../../domain/judge/feed.js';
import type { RunnerObserver } from '../../domain/judge/runner.js';
import type { Logger } from '../logger.js';
import type { Metrics } from '../metrics.js';

export interface ModelObserver {
  /** `status`: `ok`, or the code of the failure. */
  modelCalled(call: {
    readonly status: string;
    readonly seconds: number;
    readonly inputTokens: number;
    readonly outputTokens: number;
  }): void;
  /** `detail`: what the endpoint said, in full as far as it was kept. */
  modelCallFailed(failure: {
    readonly project: string;
    readonly model: string;
    readonly code: string;
    readonly detail: string;
  }): void;
  /** The endpoint does not accept the key, and did so before. */
  keyRefused(refusal: { readonly status: number; readonly model: string; readonly detail: string | null }): void;
  keyAccepted(acceptance: { readonly model: string }): void;
}

/** Judges, the models they ask, and the corrections they are shown. */
export interface JudgeEvents extends RunnerObserver, FeedObserver, ModelObserver, CorrectionObserver {
  /** US dollars. */
  modelCallsPriced(priced: { readonly cost: number }): void;
  /** @param queue says, whenever it is asked, how many evaluations wait and since when the next one does */
  judgeQueueOpened(queue: () => { readonly queued: number; readonly oldestSeconds: number }): void;
  /** No endpoint is configured, although judges are enabled. */
  judgesNotRunning(idle: { readonly judges: number }): void;
}

/** One failure of a kind is logged in this time; the others at level `debug`, or who fails often would fill the log. */
const SAID_FOR_MS = 10_000;
const MAX_SAID = 1_000;

export function judgeEvents(logger: Logger, metrics: Metrics): JudgeEvents {
  const said = new LRUCache<string, true>({ max: MAX_SAID, ttl: SAID_FOR_MS });
  return {
    modelCalled({ status, seconds, inputTokens, outputTokens }) {
      metrics.modelCallDuration.observe({ status }, seconds);
      metrics.modelTokens.inc({ direction: 'input' }, inputTokens);
      metrics.modelTokens.inc({ direction: 'output' }, outputTokens);
    },
    modelCallFailed(failure) {
      const kind = [failure.project, failure.model, failure.code].join('/');
      const level = said.has(kind) ? 'debug' : 'warn';
      if (level === 'warn') said.set(kind, true);
      logger[level]('A call of the model endpoint failed', { ...failure });
    },
    keyRefused(refusal) {
      logger.warn('The model endpoint refuses the key: set JUDGE_LLM_API_KEY to one that it accepts', { ...refusal });
    },
    keyAccepted({ model }) {
      logger.info('The model endpoint accepts the key again', { model });
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
      logger.warn('Model calls of judges could not be stored as spans; their evaluations are stored', { count, error });
    },
    recordingFailed({ error }) {
      logger.warn('Evaluations of judges could not be stored; they stay queued', { error });
    },
    runnerFailed({ error }) {
      logger.warn('Queued evaluations could not be run; the runner goes on', { error });
    },
    runsNotRead({ project, runs, error }) {
      logger.warn('Spans of queued evaluations could not be read; fewer will be read at once', {
        project,
        runs,
        error,
      });
    },
    feedFailed({ project, error }) {
      logger.warn('New spans could not be checked for judges; it will be tried again', { project, error });
    },
    spanNotRead({ project, span, error }) {
      logger.warn('A new span could not be read for judges; it is not evaluated', { project, span, error });
    },
    examplesChosen({ examples, seconds }) {
      metrics.judgeExamples.inc(examples);
      metrics.exampleSelectionDuration.observe(seconds);
    },
  };
}
