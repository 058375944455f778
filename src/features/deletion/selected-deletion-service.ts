import type { AuditLog } from '../../engine/identity/audit.js';
import type { Principal } from '../../engine/identity/identity.js';
import type { ListName } from '../../engine/traces/model/list/definitions.js';
import type { ListQuery } from '../../engine/traces/model/list/query.js';
import { selectionOf } from '../../engine/traces/model/list/selection.js';
import type { ListStatistics } from '../../engine/traces/model/list/statistics.js';
import type { Micros } from '../../engine/timestamp.js';
import type { JobHead, JobStore } from '../../engine/work/job.js';
import type { JobRunner } from '../../engine/work/job-runner.js';
import { PLAN_LIFETIME_SECONDS, type PlanSigner } from './selected-deletion-plan.js';
import {
  NOTHING_DELETED,
  SELECTED_DELETION,
  type SelectedCheckpoint,
  type SelectedDeletion,
  type SelectedObjects,
} from './selected-deletion-job.js';

export interface SelectedDeletionServiceParts {
  readonly statistics: Pick<ListStatistics, 'extent'>;
  readonly jobs: Pick<JobStore, 'list'>;
  readonly runner: Pick<JobRunner, 'create' | 'find' | 'cancel'>;
  readonly signer: PlanSigner;
  readonly audit: AuditLog;
}

/** What a dry run found, with what confirms it. */
export interface DeletionPlan extends SelectedObjects {
  readonly confirm: string;
  readonly expiresAt: Micros;
}

const MAX_LISTED = 100;

/** Deletes what the filters of a list find: shown first, and then, as it was at that moment, deleted by a job. */
export class SelectedDeletionService {
  readonly #parts: SelectedDeletionServiceParts;

  constructor(parts: SelectedDeletionServiceParts) {
    this.#parts = parts;
  }

  /** What would be deleted. @param asked the filters, read and as they were written @throws DomainError `unavailable` */
  async plan(
    projectId: string,
    list: ListName,
    asked: { readonly query: ListQuery; readonly text: string },
    signal: AbortSignal,
  ): Promise<DeletionPlan> {
    const { notCurrent: _, ...found } = await this.#parts.statistics.extent(list, projectId, asked.query, signal);
    const plan = { list, query: asked.text, found, selection: selectionOf(asked.query) };
    const confirm = this.#parts.signer.sign(projectId, plan);
    return { ...plan, confirm, expiresAt: found.upTo + PLAN_LIFETIME_SECONDS * 1e6 };
  }

  /**
   * Orders the deletion of what a dry run found.
   * @throws DomainError `invalid`; `conflict` when the dry run is too old, or too many jobs are not finished
   */
  start(by: Principal, confirm: string): SelectedDeletion {
    const { signer, runner, audit } = this.#parts;
    const { project_id, user_id } = by;
    const input = signer.read(project_id, confirm, Date.now() * 1000);
    const { list, query, found } = input;
    const about = { project_id, kind: SELECTED_DELETION, subject_id: project_id, created_by: user_id };
    return audit.together(() => {
      const job = runner.create({ ...about, summary: { list, query, found }, input });
      audit.done({ event: 'selectionDeleted', by, project_id, subject_id: job.id, part: list, found: found[list] });
      return selectedDeletionOf(job);
    });
  }

  /** @throws DomainError `not_found` */
  get(projectId: string, id: string): SelectedDeletion {
    return selectedDeletionOf(this.#parts.runner.find(projectId, SELECTED_DELETION, id));
  }

  /** The newest hundred, newest first. */
  list(projectId: string): SelectedDeletion[] {
    return this.#parts.jobs.list(projectId, SELECTED_DELETION, projectId, MAX_LISTED).map(selectedDeletionOf);
  }

  /** What is deleted stays so, with the portion in progress. @throws DomainError `not_found`; `conflict` when it has ended */
  cancel(by: Principal, id: string): SelectedDeletion {
    const { project_id } = by;
    const { runner, audit } = this.#parts;
    const told = (end: () => void) =>
      audit.together(() => {
        end();
        audit.done({ event: 'selectionDeletionCanceled', by, project_id, subject_id: id });
      });
    return selectedDeletionOf(runner.cancel(project_id, SELECTED_DELETION, id, told));
  }
}

function selectedDeletionOf(job: JobHead): SelectedDeletion {
  const { deleted } = (job.checkpoint as SelectedCheckpoint | null) ?? NOTHING_DELETED;
  return { ...job, ...(job.summary as SelectedObjects), deleted };
}
