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
import type { SpanIngest } from '../features/traces/span-ingest.js';
import type { Context } from './context.js';
import type { Storage } from './storage.js';

export interface Experiments {
  readonly experiments: ExperimentService;
  readonly resultIntake: ResultIntake;
  readonly missingResults: MissingResults;
  readonly evals: EvalService;
  readonly scorers: ScorerService;
  readonly resultRows: ResultRows;
}

export interface ExperimentDependencies {
  readonly ingest: SpanIngest;
  readonly datasets: DatasetService;
  readonly deletions: DeletionService;
  readonly scores: ScoreService;
}

/** Opens experiments, and goes on with the removal of those that were deleted. */
export function openExperiments(
  { closers, events }: Context,
  { metadata, traces }: Storage,
  { ingest, datasets, deletions, scores }: ExperimentDependencies,
): Experiments {
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
  const experiments = new ExperimentService({ experiments: store, results, datasets, removeHidden });
  return {
    experiments,
    evals: new EvalService({ experiments, intake: resultIntake, datasets }),
    scorers: new ScorerService({ experiments, scoring: metadata.experimentScoring, scores, results }),
    resultIntake,
    missingResults: new MissingResults({ results, datasets }),
    resultRows: new ResultRows(datasets),
  };
}
