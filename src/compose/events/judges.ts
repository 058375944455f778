import { LRUCache } from 'lru-cache';
import type { CorrectionObserver } from '../../features/calibration/correction-examples.js';
import type { FeedObserver } from '../../features/judges/feed.js';
import type { RunnerObserver } from '../../features/judges/runner.js';
import { say } from '../../engine/signals/lines.js';
import type { Logger } from '../../engine/signals/logger.js';
import type { Metrics } from '../../engine/signals/metrics.js';
import type { ModelObserver } from '../../engine/models/model-client.js';

/** Judges, the models they ask, and the corrections they are shown. */
export interface JudgeEvents extends RunnerObserver, FeedObserver, ModelObserver, CorrectionObserver {
  /** US dollars. */
  modelCallsPriced(priced: { readonly cost: number }): void;
  /** @param queue says, whenever it is asked, how many evaluations wait and since when the next one does */
  judgeQueueOpened(queue: () => { readonly queued: number; readonly oldestSeconds: number }): void;
  /** @param heldBack says, whenever it is asked, of how many models calls are held back, as many in a row failed */
  modelsAsked(heldBack: () => number): void;
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
      const isSaid = said.has(kind);
      if (!isSaid) said.set(kind, true);
      say(logger, 'modelCallFailed', { ...failure }, isSaid);
    },
    keyRefused(refusal) {
      say(logger, 'keyRefused', { ...refusal });
    },
    keyAccepted({ model }) {
      say(logger, 'keyAccepted', { model });
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
      say(logger, 'evaluationGivenUp', { judge, span, reason });
    },
    judgeQueueOpened(queue) {
      metrics.watchJudgeQueue(() => queue().queued);
      metrics.watchJudgeQueueAge(() => queue().oldestSeconds);
    },
    modelsAsked(heldBack) {
      metrics.watchModelBreakers(heldBack);
    },
    judgesNotRunning({ judges }) {
      say(logger, 'judgesNotRunning', { enabled_judges: judges });
    },
    callSpansLost({ count, error }) {
      say(logger, 'callSpansLost', { count, error });
    },
    recordingFailed({ error }) {
      say(logger, 'recordingFailed', { error });
    },
    runnerFailed({ error }) {
      say(logger, 'runnerFailed', { error });
    },
    runsNotRead({ project, runs, error }) {
      say(logger, 'runsNotRead', { project, runs, error });
    },
    feedFailed({ project, error }) {
      say(logger, 'feedFailed', { project, error });
    },
    spanNotRead({ project, span, error }) {
      say(logger, 'spanNotRead', { project, span, error });
    },
    examplesChosen({ examples, seconds }) {
      metrics.judgeExamples.inc(examples);
      metrics.exampleSelectionDuration.observe(seconds);
    },
  };
}
