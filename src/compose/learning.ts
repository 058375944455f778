import type { WorkUnderWay } from '../engine/work/work-under-way.js';
import { JobRunner } from '../engine/work/job-runner.js';
import { CalibrationService } from '../features/calibration/calibration-service.js';
import { CALIBRATION_TRIAL, calibrationTrial } from '../features/calibration/calibration-trial.js';
import { CorrectionExamples } from '../features/calibration/correction-examples.js';
import { ExamplesWeights } from '../features/calibration/examples-weight.js';
import { JudgedFinder } from '../features/judges/judged-finder.js';
import { optimizationJob } from '../features/optimization/optimization-job.js';
import { OPTIMIZATION } from '../features/prompts/version-uses.js';
import { OptimizationService } from '../features/optimization/optimization-service.js';
import { ModelTrials } from '../features/trials/model-trials.js';
import type { PriceModelCall } from '../engine/traces/model/span/pricing.js';
import type { PromptService } from '../features/prompts/prompt-service.js';
import type { Context } from './context.js';
import type { ModelEndpoint, Models } from './models.js';
import type { Storage } from './storage.js';

export interface Learning {
  readonly calibration: CalibrationService;
  readonly optimizations: OptimizationService;
  /** Work under way that a deletion has to stop for the spans it deletes. */
  readonly work: readonly WorkUnderWay[];
}

export interface LearningParts {
  readonly prompts: PromptService;
  readonly models: Models;
  readonly price: PriceModelCall;
  readonly examples: CorrectionExamples;
}

/** Opens the choice of corrections that judges are shown as examples. */
export function openExamples({ config, events }: Context, { metadata, traces }: Storage): CorrectionExamples {
  return new CorrectionExamples({
    corrections: metadata.corrections,
    spans: traces.spans,
    maxTokens: config.judges.exampleTokens,
    observer: events,
  });
}

/** Opens what learns from people, and goes on with its jobs when there is a model endpoint. */
export function openLearning(context: Context, storage: Storage, parts: LearningParts): Learning {
  const { config, events, closers } = context;
  const { corrections, judges, jobs, prompts, promotions, feedback } = storage.metadata;
  const { spans, wholes } = storage.traces;
  const { examples, models } = parts;
  const isPaused = (projectId: string) => models.budgets.isSpent(projectId);
  const runner = new JobRunner({ store: jobs, observer: events, limits: config.jobs, isPaused });
  models.budgets.onChange(() => runner.wake());
  if (models.endpoint !== null) {
    const trials = openTrials(context, parts, models.endpoint);
    runner.register(
      CALIBRATION_TRIAL,
      calibrationTrial({ judged: new JudgedFinder({ spans, wholes }), examples, trials }),
    );
    runner.register(OPTIMIZATION, optimizationJob({ spans, examples, trials }));
    closers.push(() => runner.close());
    runner.start();
  }
  return {
    work: [runner],
    calibration: new CalibrationService({
      corrections,
      judges,
      prompts,
      jobs,
      runner,
      endpoint: models.endpoint?.client ?? null,
      weights: new ExamplesWeights({ corrections, spans, maxTokens: config.judges.exampleTokens }),
      price: parts.price,
      showsExamples: config.judges.exampleTokens > 0,
    }),
    optimizations: new OptimizationService({
      feedback,
      spans,
      judges,
      prompts,
      versions: parts.prompts,
      promotions,
      jobs,
      runner,
      endpoint: models.endpoint?.client ?? null,
    }),
  };
}

function openTrials(
  { config, overrides }: Context,
  { models, price }: LearningParts,
  { client, caller }: ModelEndpoint,
): ModelTrials {
  return new ModelTrials({
    client,
    caller,
    storeSpans: models.storeSpans,
    price,
    isPaused: (projectId) => models.budgets.isSpent(projectId),
    maxAttempts: config.judges.maxAttempts,
    ...(overrides.judgeRetry && { retry: overrides.judgeRetry }),
  });
}
