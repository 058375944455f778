import type { IdentityService } from '../engine/identity/identity-service.js';
import { JobRunner } from '../engine/work/job-runner.js';
import type { DeletionService } from '../features/deletion/deletion-service.js';
import { SELECTED_DELETION } from '../features/deletion/selected-deletion-job.js';
import { PlanSigner } from '../features/deletion/selected-deletion-plan.js';
import { SelectedDeletionService } from '../features/deletion/selected-deletion-service.js';
import { selectedDeletionWork } from '../features/deletion/selected-deletion-work.js';
import type { Context } from './context.js';
import type { Storage } from './storage.js';

export interface SelectedDeletionDependencies {
  readonly deletions: DeletionService;
  readonly identity: Pick<IdentityService, 'isGone'>;
}

/** Jobs of two projects at once: while one rests, another continues. */
const AT_ONCE = 2;

/** Continues with the deletions of what filters found that are not finished. */
export function openSelectedDeletions(
  { config, events, governor, overrides, closers }: Context,
  { metadata, traces, audit }: Storage,
  { deletions, identity }: SelectedDeletionDependencies,
): SelectedDeletionService {
  const { jobs } = metadata;
  const limits = { atOnce: AT_ONCE, ofProject: 1, maxAttempts: config.jobs.maxAttempts };
  const runner = new JobRunner({ store: jobs, observer: events, limits });
  const { deletedAtOnce } = overrides;
  runner.register(
    SELECTED_DELETION,
    selectedDeletionWork({
      ...{ lists: traces.lists, spans: traces.deletions, deletions, governor },
      purge: () => traces.purgeRemovedTraces(),
      isGone: (projectId) => identity.isGone(projectId),
      ...(deletedAtOnce !== undefined && { atOnce: deletedAtOnce }),
    }),
  );
  closers.push(() => runner.close());
  runner.start();
  const signer = new PlanSigner(metadata.secret('deletion plans'));
  return new SelectedDeletionService({ statistics: traces.statistics, jobs, runner, signer, audit });
}
