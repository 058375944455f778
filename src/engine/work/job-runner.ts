import { randomUUID } from 'node:crypto';
import { DomainError } from '../errors.js';
import { isRetryable } from './retryable.js';
import type { DeletionScope, WorkUnderWay } from './work-under-way.js';
import { RETRIES, type Retry } from './backoff.js';
import { BackgroundLoop } from './background-loop.js';
import type { Micros } from '../timestamp.js';
import { JobAttempts } from './job-attempts.js';
import { workOnEach } from './job-items.js';
import { TO_BE_CONTINUED, type JobWork } from './job-work.js';
import { JobFailure, JobPaused, type Job, type JobHead, type JobStore } from './job.js';
import type { Signals } from '../signals/signals.js';

export interface JobRunnerOptions {
  readonly store: JobStore;
  readonly observer: Pick<Signals, 'jobFinished' | 'jobFailed' | 'jobRetried'>;
  readonly limits: JobLimits;
  /** Whether jobs of a project wait; default: none do. @throws DomainError `unavailable` */
  readonly isPaused?: (projectId: string) => boolean;
  readonly now?: () => Micros;
  /** The waits between attempts of a job; default: those of work. */
  readonly retry?: Retry;
}

export interface JobLimits {
  /** Jobs under way at once, of all projects. */
  readonly atOnce: number;
  /** Jobs of one project under way at once. */
  readonly ofProject: number;
  /** How often a job is tried while a store does not answer, and nothing of it gets done in between. */
  readonly maxAttempts: number;
}

interface UnderWay {
  readonly job: JobHead;
  readonly abort: AbortController;
  readonly ended: Promise<void>;
}

/** Jobs of one kind. */
interface Kind {
  readonly work: JobWork;
  readonly onFailed: (job: JobHead) => void;
}

/** A job that is to be made. */
export type JobDraft = Pick<Job, 'project_id' | 'kind' | 'subject_id' | 'summary' | 'input' | 'created_by'>;

const MAX_UNFINISHED = 10;
/** How often it is looked whether jobs that wait may go on, if nothing says so before. */
const PAUSED_MS = 60_000;

/**
 * Runs the jobs of the kinds that are registered with it: projects take turns, and of one project the oldest comes first.
 * A job that is to be tried again leaves its place to others meanwhile. Jobs not finished when the server stops go on after
 * the next start.
 */
export class JobRunner implements WorkUnderWay {
  readonly #options: JobRunnerOptions;
  readonly #now: () => Micros;
  readonly #kinds = new Map<string, Kind>();
  readonly #running = new Map<string, UnderWay>();
  readonly #attempts: JobAttempts;
  /** Projects in the order in which a job of theirs was last begun, the latest last. */
  readonly #served = new Set<string>();
  readonly #loop: BackgroundLoop;
  #isOpen = false;

  constructor(options: JobRunnerOptions) {
    this.#options = options;
    this.#now = options.now ?? (() => Date.now() * 1000);
    this.#attempts = new JobAttempts(options.retry ?? RETRIES.work);
    this.#loop = new BackgroundLoop({
      round: () => this.#fill(),
      onFailure: (error) => options.observer.jobRetried({ id: 'none', kind: 'none', error }),
      retry: RETRIES.soon,
    });
  }

  /**
   * Registers the work of a kind of jobs; before `start`.
   * @param onFailed called before a job has failed for good; again, if that cannot be stored
   */
  register(kind: string, work: JobWork, onFailed: Kind['onFailed'] = () => undefined): void {
    this.#kinds.set(kind, { work, onFailed });
  }

  /** Goes on with jobs that are not finished. */
  start(): void {
    this.#isOpen = true;
    this.wake();
  }

  /** Looks for jobs that may begin, such as those of a project that waited. */
  wake(): void {
    if (this.#isOpen) this.#loop.wake();
  }

  /** Gives up calls under way and resolves when nothing runs any more; finished steps are kept. */
  async close(): Promise<void> {
    await this.#loop.close();
    for (const { abort } of this.#running.values()) abort.abort();
    await Promise.all([...this.#running.values()].map(({ ended }) => ended));
  }

  /** Stops jobs that work with deleted things, which have ended by now; jobs that may show a judge some begin again. */
  async giveUp({ projectId, spans, judges, jobs }: DeletionScope): Promise<void> {
    const given = [...this.#running.values()].filter(
      ({ job }) => job.project_id === projectId && (spans === null || judges.size > 0 || jobs.has(job.id)),
    );
    for (const { abort } of given) abort.abort();
    await Promise.all(given.map(({ ended }) => ended));
  }

  /** @throws DomainError `conflict` when too many are not finished */
  create(draft: JobDraft): Job {
    const { store } = this.#options;
    if (store.countUnfinished(draft.project_id, [...this.#kinds.keys()]) >= MAX_UNFINISHED)
      throw new DomainError('conflict', `${MAX_UNFINISHED} jobs of this project are unfinished: wait, or cancel one`);
    const job: Job = {
      ...draft,
      id: randomUUID(),
      state: 'queued',
      phase: null,
      total: null,
      done: 0,
      checkpoint: null,
      result: null,
      error: null,
      created_at: this.#now(),
      finished_at: null,
    };
    store.insert(job);
    // The job begins in another turn of the event loop, so that the caller has it before anything happens to it.
    setImmediate(() => this.wake());
    return job;
  }

  /**
   * @param stored stores that it ended, with whatever goes along: the job stops once that is done
   * @throws DomainError `not_found`; `conflict` when it has ended; what `stored` throws
   */
  cancel(projectId: string, kind: string, id: string, stored = (end: () => void): void => end()): Job {
    const { store, observer } = this.#options;
    const job = this.find(projectId, kind, id);
    stored(() => {
      if (!store.end(id, { state: 'cancelled' }, this.#now()))
        throw new DomainError('conflict', `The job has already ended: ${job.state}`);
    });
    this.#running.get(id)?.abort.abort();
    observer.jobFinished({ id, kind, result: 'cancelled' });
    return this.find(projectId, kind, id);
  }

  /** @throws DomainError `not_found` */
  find(projectId: string, kind: string, id: string): Job {
    const job = this.#options.store.find(projectId, kind, id);
    if (job === undefined) throw new DomainError('not_found', 'There is no job with this id');
    return job;
  }

  #fill(): number {
    const { store, isPaused = () => false } = this.#options;
    const all = store.unfinished([...this.#kinds.keys()]);
    this.#attempts.forgetOthers(all);
    const paused = new Set([...new Set(all.map(({ project_id }) => project_id))].filter(isPaused));
    const unfinished = all.filter(({ project_id }) => !paused.has(project_id));
    // One moment for all jobs, so that none becomes due in between and is neither begun nor waited for.
    const now = performance.now();
    for (let next = this.#next(unfinished, now); next !== undefined; next = this.#next(unfinished, now))
      this.#begin(next);
    return Math.min(this.#attempts.waitMs(now), paused.size > 0 ? PAUSED_MS : Infinity);
  }

  /** The oldest job of the project that has waited longest for one to begin. */
  #next(unfinished: readonly JobHead[], now: number): JobHead | undefined {
    const { atOnce, ofProject } = this.#options.limits;
    if (this.#running.size >= atOnce) return undefined;
    const running = [...this.#running.values()];
    const candidates = unfinished.filter(
      ({ id, project_id }) =>
        !this.#running.has(id) &&
        this.#attempts.isDue(id, now) &&
        running.filter(({ job }) => job.project_id === project_id).length < ofProject,
    );
    const first = [...this.#served].find((project) => candidates.some(({ project_id }) => project_id === project));
    return (
      candidates.find(({ project_id }) => !this.#served.has(project_id)) ??
      candidates.find(({ project_id }) => project_id === first)
    );
  }

  #begin(job: JobHead): void {
    const { id, project_id: project } = job;
    this.#served.delete(project);
    this.#served.add(project);
    const abort = new AbortController();
    const ended = this.#run(job, abort.signal).finally(() => {
      this.#running.delete(id);
      this.wake();
    });
    this.#running.set(id, { job, abort, ended });
  }

  /** Makes one attempt of a job. Never rejects. */
  async #run(job: JobHead, signal: AbortSignal): Promise<void> {
    const { store, observer } = this.#options;
    const { id, kind } = job;
    try {
      const result = await this.#work(job, signal);
      if (result !== TO_BE_CONTINUED && store.end(id, { state: 'done', result }, this.#now()))
        observer.jobFinished({ id, kind, result: 'done' });
      this.#attempts.forget(id);
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof JobPaused) {
        this.#attempts.forget(id);
        return;
      }
      const retryable = isRetryable(error);
      const failed = this.#attempts.failedOnce(job, this.#doneOf(job));
      const isLast = !retryable || failed >= this.#options.limits.maxAttempts;
      if (!(error instanceof JobFailure)) observer[isLast ? 'jobFailed' : 'jobRetried']({ id, kind, error });
      const reason = retryable ? new JobFailure(`Failed after ${failed} attempts: a store did not respond`) : error;
      if (isLast && this.#giveUp(job, reason)) this.#attempts.forget(id);
    }
  }

  /** Steps of a job that are done; undefined when the store does not answer. */
  #doneOf({ project_id, kind, id }: JobHead): number | undefined {
    try {
      return this.#options.store.find(project_id, kind, id)?.done;
    } catch {
      return undefined;
    }
  }

  async #work(head: JobHead, stop: AbortSignal): Promise<unknown> {
    const { store } = this.#options;
    const kind = this.#kinds.get(head.kind);
    if (kind === undefined) throw new JobFailure(`Unknown job kind: ${head.kind}`);
    const job = this.find(head.project_id, head.kind, head.id);
    const steps = store.steps(job.id);
    const attempt = new AbortController();
    const signal = AbortSignal.any([stop, attempt.signal]);
    return kind.work({
      job,
      signal,
      failedAttempts: this.#attempts.failedOf(job.id),
      enter: (phase, total) => store.progress(job.id, phase, total),
      advance: (done, checkpoint) => store.advance(job.id, done, checkpoint),
      step: async <T>(name: string, step: () => Promise<T>): Promise<T> => {
        if (steps.has(name)) return steps.get(name) as T;
        const result = await step();
        store.addStep(job.id, name, result);
        steps.set(name, result);
        return result;
      },
      willShow(spanId, traceIds) {
        if (!store.noteTraces(job.id, spanId, traceIds)) throw new JobFailure('The job has already ended');
      },
      each: (items, task) => workOnEach(items, task, attempt, signal),
    });
  }

  /** Ends a job as failed. False when even that fails; then the job is tried again. */
  #giveUp(job: JobHead, error: unknown): boolean {
    const { id, kind } = job;
    const { store, observer } = this.#options;
    const reason =
      error instanceof JobFailure ? error.message : 'The job failed with an internal error; see the server log';
    try {
      this.#kinds.get(kind)?.onFailed(job);
      if (store.end(id, { state: 'failed', error: reason }, this.#now()))
        observer.jobFinished({ id, kind, result: 'failed' });
      return true;
    } catch {
      return false;
    }
  }
}
