import type { CorrectionObserver } from '../../domain/calibration/corrections.js';
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

export function judgeEvents(logger: Logger, metrics: Metrics): JudgeEvents {
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
    examplesChosen({ examples, seconds }) {
      metrics.judgeExamples.inc(examples);
      metrics.exampleSelectionDuration.observe(seconds);
    },
  };
}
