import type { JobHead, JobStore } from '../../engine/work/job.js';
import type { JobRunner } from '../../engine/work/job-runner.js';
import type { DeletionScope, WorkUnderWay } from '../../engine/work/work-under-way.js';
import type { ExperimentRun, ExperimentRuns } from '../experiments/experiment.js';
import type { RunSummary } from './run-plan.js';

/** Kind of the jobs that run experiments. */
export const EXPERIMENT_RUN = 'experiment_run';

/** How far a run is, beside its results. */
export interface RunCheckpoint {
  /** US dollars, also of answers that could not be stored; null: unknown. */
  readonly cost: number | null;
  /** How many answers could not be stored, so that they are asked for again; absent: none. */
  readonly unstored?: number;
}

export interface RunJobsParts {
  readonly jobs: Pick<JobStore, 'list'>;
  readonly runner: Pick<JobRunner, 'cancel' | 'giveUp'>;
  /** Why calls of a project have to wait, in a sentence; null: they do not. */
  readonly waitingReason: (projectId: string) => string | null;
}

/** The jobs of experiments that the server runs itself: each has one at most. */
export class RunJobs implements ExperimentRuns, WorkUnderWay {
  readonly #parts: RunJobsParts;

  constructor(parts: RunJobsParts) {
    this.#parts = parts;
  }

  of(projectId: string, experimentId: string): ExperimentRun | null {
    const job = this.#job(projectId, experimentId);
    if (job === undefined) return null;
    const { max_cost } = job.summary as RunSummary;
    const { cost } = (job.checkpoint as RunCheckpoint | null) ?? { cost: null };
    const waiting_reason = job.finished_at === null ? this.#parts.waitingReason(projectId) : null;
    return { job, cost, max_cost, waiting_reason };
  }

  stop(projectId: string, experimentId: string): void {
    const job = this.#job(projectId, experimentId);
    if (job !== undefined && job.finished_at === null) this.#parts.runner.cancel(projectId, EXPERIMENT_RUN, job.id);
  }

  /** Of a project that is deleted. A result whose row was erased is not stored, so those of single spans need not stop. */
  async giveUp(scope: DeletionScope): Promise<void> {
    if (scope.spans === null) await this.#parts.runner.giveUp(scope);
  }

  #job(projectId: string, experimentId: string): JobHead | undefined {
    return this.#parts.jobs.list(projectId, EXPERIMENT_RUN, experimentId, 1)[0];
  }
}
