import { DeletionService } from '../features/deletion/deletion-service.js';
import type { DeletionParts } from '../features/deletion/deletion-work.js';
import { CALIBRATION_TRIAL, trialWithoutSpans } from '../features/calibration/calibration-trial.js';
import { optimizationWithoutSpans } from '../features/optimization/optimization-job.js';
import { OPTIMIZATION } from '../features/prompts/version-uses.js';
import type { Context } from './context.js';
import type { Storage } from './storage.js';

export interface DeletionDependencies {
  readonly images: DeletionParts['images'];
  /** Called once a project is ordered to go: nobody may get at it from then on. */
  readonly onProjectOrdered: (projectId: string) => void;
}

/** Deletion from both stores and from memory. Resolves once what was ordered before the start is gone, or under way. */
export async function openDeletions(
  { overrides, events, closers }: Context,
  { metadata, traces, audit }: Storage,
  dependencies: DeletionDependencies,
): Promise<DeletionService> {
  const { deletions: store, jobs, promotions } = metadata;
  const deletions = new DeletionService({
    ...dependencies,
    store,
    spans: traces.deletions,
    scores: traces.scoreRemoval,
    lists: traces.lists,
    jobs,
    withoutSpans: {
      [CALIBRATION_TRIAL]: trialWithoutSpans,
      [OPTIMIZATION]: (job, gone) => optimizationWithoutSpans(job, gone, new Set(promotions.ofJob(job.id).keys())),
    },
    onImagesLeft: (error) => events.attachmentSweepFailed({ error }),
    ...(overrides.onDeletionStep === undefined ? {} : { onStep: overrides.onDeletionStep }),
    observer: events,
    audit,
  });
  closers.push(() => deletions.close());
  await deletions.resume();
  return deletions;
}
