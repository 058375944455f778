import type { DeletionService } from '../features/deletion/deletion-service.js';
import type { DatasetService } from '../features/datasets/dataset-service.js';
import { ExperimentRemoval } from '../features/experiments/experiment-removal.js';
import { ExperimentService } from '../features/experiments/experiment-service.js';
import { MissingResults } from '../features/experiments/missing-results.js';
import { ResultIntake } from '../features/experiments/result-intake.js';
import type { SpanIngest } from '../features/traces/span-ingest.js';
import type { Context } from './context.js';
import type { Storage } from './storage.js';

export interface Experiments {
  readonly experiments: ExperimentService;
  readonly resultIntake: ResultIntake;
  readonly missingResults: MissingResults;
}

export interface ExperimentDependencies {
  readonly ingest: SpanIngest;
  readonly datasets: DatasetService;
  readonly deletions: DeletionService;
}

/** Opens experiments, and goes on with the removal of those that were deleted. */
export function openExperiments(
  { closers, events }: Context,
  { metadata, traces }: Storage,
  { ingest, datasets, deletions }: ExperimentDependencies,
): Experiments {
  const { experiments: store } = metadata;
  const { results } = traces;
  const resultIntake = new ResultIntake({ experiments: store, results, datasets, ingest });
  const removal = new ExperimentRemoval({
    ...{ experiments: store, results, intake: resultIntake },
    ...{ stored: traces.deletions, deletions, observer: events },
  });
  closers.push(() => removal.close());
  removal.resume();
  const removeHidden = () => removal.remove();
  return {
    experiments: new ExperimentService({ experiments: store, results, datasets, removeHidden }),
    resultIntake,
    missingResults: new MissingResults({ results, datasets }),
  };
}
