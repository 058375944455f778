import type { Closers } from './clickhouse-setup.js';
import { CALIBRATION_TRIAL, trialWithoutSpans } from './domain/learning/calibration/calibration-trial.js';
import { DeletionService } from './domain/deletion/deletion-service.js';
import type { DeletionParts } from './domain/deletion/deletion-work.js';
import { OPTIMIZATION, optimizationWithoutSpans } from './domain/learning/optimization/optimization-job.js';
import type { Events } from './observability/events.js';
import { SqliteDeletionStore } from './storage/sqlite/deletion-store.js';
import type { Database } from './storage/sqlite/database.js';
import { SqliteJobStore } from './storage/sqlite/job-store.js';
import { SqlitePromotionStore } from './storage/sqlite/promotion-store.js';

export interface DeletionOptions extends Pick<DeletionParts, 'spans' | 'images' | 'onStep'> {
  readonly database: Database;
  readonly events: Events;
  readonly closers: Closers;
  /** Called once a project is ordered to go: nobody may get at it from then on. */
  readonly onProjectOrdered: (projectId: string) => void;
}

/** Deletion from both stores and from memory. Part of the composition root. */
export function openDeletions({ database, events, closers, ...parts }: DeletionOptions): DeletionService {
  const promotions = new SqlitePromotionStore(database);
  const deletions = new DeletionService({
    ...parts,
    store: new SqliteDeletionStore(database),
    jobs: new SqliteJobStore(database),
    withoutSpans: {
      [CALIBRATION_TRIAL]: trialWithoutSpans,
      [OPTIMIZATION]: (job, gone) => optimizationWithoutSpans(job, gone, new Set(promotions.ofJob(job.id).keys())),
    },
    onImagesLeft: (error) => events.attachmentSweepFailed({ error }),
    observer: events,
  });
  closers.push(() => deletions.close());
  return deletions;
}
