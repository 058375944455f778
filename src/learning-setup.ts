import type { Closers } from './clickhouse-setup.js';
import type { JudgeConfig } from './config/config.js';
import { CalibrationService } from './domain/learning/calibration/calibration-service.js';
import { CALIBRATION_TRIAL, calibrationTrial } from './domain/learning/calibration/calibration-trial.js';
import { Corrections } from './domain/learning/calibration/corrections.js';
import type { WorkUnderWay } from './domain/job/work-under-way.js';
import type { IngestService } from './domain/ingest/ingest-service.js';
import { JobRunner, type JobLimits } from './domain/job/job-runner.js';
import { JudgeCaller } from './domain/judge/judge-caller.js';
import type { ModelClient } from './domain/judge/model-client.js';
import type { SpanReader } from './domain/judge/span-reader.js';
import { OPTIMIZATION, optimizationJob } from './domain/learning/optimization/optimization-job.js';
import { OptimizationService } from './domain/learning/optimization/optimization-service.js';
import type { PromptService } from './domain/prompt/prompt-service.js';
import { costOf, type PriceModelCall } from './domain/span/pricing.js';
import { ModelTrials } from './domain/learning/trial/model-trials.js';
import type { Events } from './observability/events.js';
import type { Database } from './storage/sqlite/database.js';
import { SqliteFeedbackStore } from './storage/sqlite/feedback-store.js';
import { SqliteJobStore } from './storage/sqlite/job-store.js';
import { SqliteJudgeStore } from './storage/sqlite/judge-store.js';
import { SqlitePromotionStore } from './storage/sqlite/promotion-store.js';
import type { SqlitePromptStore } from './storage/sqlite/prompt-store.js';
import { SqliteStatementStore } from './storage/sqlite/statement-store.js';

export interface LearningParts {
  readonly config: JudgeConfig;
  readonly jobLimits: JobLimits;
  readonly database: Database;
  readonly prompts: SqlitePromptStore;
  readonly versions: PromptService;
  readonly spans: SpanReader;
  readonly corrections: Corrections;
  /** Stores calls of models as spans. */
  readonly ingest: Pick<IngestService, 'storeSpans'>;
  readonly price: PriceModelCall;
  readonly events: Events;
  readonly closers: Closers;
  /** Null: no endpoint is configured. */
  readonly model: ModelClient | null;
  /** Wait before the second attempt of a call; default 500 ms. */
  readonly retryBaseMs?: number;
}

/** What judges are told of what people said. Part of the composition root. */
export function openCorrections(
  database: Database,
  spans: SpanReader,
  { exampleTokens }: JudgeConfig,
  events: Events,
): Corrections {
  const statements = new SqliteStatementStore(database);
  return new Corrections({ statements, spans, maxTokens: exampleTokens, observer: events });
}

/** Opens what learns from people, and goes on with its jobs when there is a model endpoint. Part of the composition root. */
export function openLearning(parts: LearningParts): {
  readonly calibration: CalibrationService;
  readonly optimizations: OptimizationService;
  readonly work: readonly WorkUnderWay[];
} {
  const { database, prompts, versions, spans, corrections, events, closers, model } = parts;
  const judges = new SqliteJudgeStore(database, prompts);
  const jobs = new SqliteJobStore(database);
  const runner = new JobRunner({ store: jobs, observer: events, limits: parts.jobLimits });
  if (model !== null) {
    const trials = openTrials(parts, model);
    runner.register(CALIBRATION_TRIAL, calibrationTrial({ spans, corrections, trials }));
    runner.register(OPTIMIZATION, optimizationJob({ spans, corrections, trials }));
    closers.push(() => runner.close());
    runner.start();
  }
  return {
    work: [runner],
    calibration: new CalibrationService({
      statements: new SqliteStatementStore(database),
      judges,
      prompts,
      jobs,
      runner,
      canAsk: model !== null,
    }),
    optimizations: new OptimizationService({
      feedback: new SqliteFeedbackStore(database),
      spans,
      judges,
      prompts,
      versions,
      promotions: new SqlitePromotionStore(database),
      jobs,
      runner,
      endpoint: model,
    }),
  };
}

function openTrials(
  { config, prompts, corrections, ingest, price, events, retryBaseMs }: LearningParts,
  client: ModelClient,
) {
  return new ModelTrials({
    client,
    caller: new JudgeCaller({ client, prompts, examples: corrections }),
    async storeSpans(projectId, spans) {
      await ingest.storeSpans(projectId, 'judge', spans);
      events.modelCallsPriced({ cost: spans.reduce((sum, span) => sum + (costOf(span, projectId, price) ?? 0), 0) });
    },
    price,
    maxAttempts: config.maxAttempts,
    ...(retryBaseMs === undefined ? {} : { firstWaitMs: retryBaseMs }),
  });
}
