import type { DeletionService } from '../features/deletion/deletion-service.js';
import type { DatasetService } from '../features/datasets/dataset-service.js';
import { EvalService } from '../features/experiments/eval-service.js';
import { ExperimentRemoval } from '../features/experiments/experiment-removal.js';
import { ExperimentService } from '../features/experiments/experiment-service.js';
import { MissingResults } from '../features/experiments/missing-results.js';
import { ResultIntake } from '../features/experiments/result-intake.js';
import { ScorerService } from '../features/experiments/scorer-service.js';
import type { ScoreService } from '../features/scores/score-service.js';
import { ResultRows } from '../features/experiments/result-rows.js';
import type { ExperimentStore } from '../features/experiments/experiment.js';
import type { ExperimentResults } from '../engine/traces/model/experiment/results.js';
import type { SpanIngest } from '../features/traces/span-ingest.js';
import type { ModelClient } from '../engine/models/model-client.js';
import { FairSemaphore } from '../engine/work/fair-semaphore.js';
import { JobRunner } from '../engine/work/job-runner.js';
import type { WorkUnderWay } from '../engine/work/work-under-way.js';
import type { PriceModelCall } from '../engine/traces/model/span/pricing.js';
import { EXPERIMENT_RUN, RunJobs } from '../features/experiment-runs/run-jobs.js';
import { runJob } from '../features/experiment-runs/run-job.js';
import { RunService } from '../features/experiment-runs/run-service.js';
import type { PromptService } from '../features/prompts/prompt-service.js';
import type { Models } from './models.js';
import type { Context } from './context.js';
import type { Storage } from './storage.js';

export interface Experiments {
  readonly experiments: ExperimentService;
  readonly resultIntake: ResultIntake;
  readonly missingResults: MissingResults;
  readonly evals: EvalService;
  readonly scorers: ScorerService;
  readonly resultRows: ResultRows;
  readonly experimentRuns: RunService;
  /** Work under way that a deletion has to stop or wait for. */
  readonly work: readonly WorkUnderWay[];
}

export interface ExperimentDependencies {
  readonly ingest: SpanIngest;
  readonly datasets: DatasetService;
  readonly deletions: DeletionService;
  readonly scores: ScoreService;
  readonly prompts: Pick<PromptService, 'find'>;
  readonly models: Models;
  readonly price: PriceModelCall;
}

/** Opens experiments, and goes on with the removal of those that were deleted. */
export function openExperiments(
  context: Context,
  { metadata, traces, audit }: Storage,
  { ingest, datasets, deletions, scores, ...asking }: ExperimentDependencies,
): Experiments {
  const { closers, events, config } = context;
  const { experiments: store, comparisons } = metadata;
  const { results } = traces;
  const resultIntake = new ResultIntake({ experiments: store, results, datasets, ingest });
  const removal = new ExperimentRemoval({
    ...{ experiments: store, results, intake: resultIntake },
    ...{ stored: traces.deletions, observer: events },
    removeComparisons: (...given) => comparisons.removeOf(...given),
    removeSpans: (...given) => deletions.removeSpans(...given),
  });
  closers.push(() => removal.close());
  removal.resume();
  const removeHidden = (projectId: string, id: string) => removal.remove(projectId, id);
  const missingResults = new MissingResults({ results, datasets });
  // Beside the runner of what learns from people: a run may take hours.
  const { budgets } = asking.models;
  const isPaused = (projectId: string) => budgets.isSpent(projectId);
  const runner = new JobRunner({ store: metadata.jobs, observer: events, limits: config.jobs, isPaused });
  budgets.onChange(() => runner.wake());
  const waitingReason = (projectId: string) => budgets.waitingReason(projectId);
  const runs = new RunJobs({ jobs: metadata.jobs, runner, waitingReason });
  const experiments = new ExperimentService({ experiments: store, results, datasets, runs, removeHidden, audit });
  startRuns(context, runner, { store, results, datasets, intake: resultIntake, missing: missingResults, ...asking });
  return {
    experiments,
    evals: new EvalService({ experiments, intake: resultIntake, datasets }),
    scorers: new ScorerService({ experiments, scoring: metadata.experimentScoring, scores, results }),
    resultIntake,
    missingResults,
    resultRows: new ResultRows(datasets),
    experimentRuns: new RunService({
      ...{ experiments, datasets, runner, prompts: asking.prompts, price: asking.price },
      endpoint: asking.models.endpoint?.client ?? null,
      together: metadata.together,
    }),
    work: [runs, resultIntake],
  };
}

interface RunDependencies extends Pick<ExperimentDependencies, 'datasets' | 'models' | 'price'> {
  readonly store: ExperimentStore;
  readonly results: ExperimentResults;
  readonly intake: ResultIntake;
  readonly missing: MissingResults;
}

/** Goes on with runs when there is a model endpoint. Without one they wait for it. */
function startRuns(
  { config, closers, overrides }: Context,
  runner: JobRunner,
  { store, models, ...parts }: RunDependencies,
): void {
  if (models.endpoint === null) return;
  const { client } = models.endpoint;
  const { concurrency } = config.judges;
  // Runs leave a place to judges, and one project leaves places to others, however long models take.
  const limits = { atOnce: Math.max(1, concurrency - 1), perParty: Math.max(1, Math.floor(concurrency / 2)) };
  const turns = new FairSemaphore('calls of runs', limits);
  const complete: ModelClient['complete'] = (projectId, request, signal) =>
    turns.run(projectId, () => client.complete(projectId, request, signal), signal);
  const work = runJob({
    ...parts,
    ...{ experiments: store, client: { complete }, storeSpans: models.storeSpans },
    isPaused: (projectId) => models.budgets.isSpent(projectId),
    maxAttempts: config.judges.maxAttempts,
    ...(overrides.judgeRetry && { retry: overrides.judgeRetry }),
  });
  // Nothing runs any more: the experiment says so, and its run why.
  runner.register(EXPERIMENT_RUN, work, ({ project_id, subject_id }) => {
    const status = store.find(project_id, subject_id)?.status;
    if (status === 'running' || status === 'expired')
      store.setStatus(subject_id, 'canceled', 'failed', Date.now() * 1000);
  });
  closers.push(() => runner.close());
  runner.start();
}
