import { randomUUID } from 'node:crypto';
import pLimit from 'p-limit';
import { DomainError } from '../errors.js';
import { isRetryable } from '../retryable.js';
import type { Vanished, WorkUnderWay } from './work-under-way.js';
import { retryDelay } from './backoff.js';
import type { Micros } from '../time/timestamp.js';
import { JobFailure, type Job, type JobHead, type JobStore } from './job.js';

export interface JobObserver {
  jobFinished(job: {
    readonly id: string;
    readonly kind: string;
    readonly result: 'done' | 'failed' | 'cancelled';
  }): void;
  /** It is tried again, unless `final`. */
  jobFailed(failure: {
    readonly id: string;
    readonly kind: string;
    readonly error: unknown;
    readonly final: boolean;
  }): void;
}

/** What the work of a job is handed. */
export interface JobContext {
  readonly job: Job;
  /** Aborted when the job is cancelled and when the server stops. */
  readonly signal: AbortSignal;
  /** Says what the job is at, and how many steps it has in all. */
  enter(phase: string, total: number | null): void;
  /**
   * The result of a step, by a name that is its own within the job: the kept one when the step was done before a
   * restart, else that of the work, which is kept. Results are JSON. Work that is given up
   * must throw.
   */
  step<T>(name: string, work: () => Promise<T>): Promise<T>;
  /** Works on every item, a few at a time. When one fails, the others are given up; what that one threw is thrown. */
  each<I, O>(items: readonly I[], work: (item: I) => Promise<O>): Promise<O[]>;
}

/**
 * The work of one kind of jobs: from the job's input to its result, JSON both. It begins anew after a restart, so whatever
 * must not be done twice is a step.
 * @throws JobFailure; DomainError `unavailable` or `overloaded`: it is tried again
 */
export type JobWork = (context: JobContext) => Promise<unknown>;

export interface JobRunnerOptions {
  readonly store: JobStore;
  readonly observer: JobObserver;
  readonly limits: JobLimits;
  readonly now?: () => Micros;
  /** Wait before the second attempt, in milliseconds; default 1 s. */
  readonly retryBaseMs?: number;
}

export interface JobLimits {
  /** Jobs under way at once, of all projects. */
  readonly atOnce: number;
  /** Of one project. */
  readonly ofProject: number;
  /** How often a job is tried while a store does not answer, and nothing of it gets done in between. */
  readonly maxAttempts: number;
}

interface UnderWay {
  readonly job: JobHead;
  readonly abort: AbortController;
  readonly ended: Promise<void>;
}

/** A job that is to be made. */
export type JobDraft = Pick<Job, 'project_id' | 'kind' | 'subject_id' | 'summary' | 'input' | 'created_by'>;

/** Items of a job worked on at once; the client of the model has its own limit. */
const ITEMS_AT_ONCE = 8;
const MAX_UNFINISHED = 10;
const RETRY_MS = 1_000;

interface Attempts {
  readonly failed: number;
  /** Steps that were done when the last one failed. */
  readonly done: number;
  /** On the clock of `performance`. */
  readonly notBefore: number;
}

/**
 * Runs jobs: projects take turns, and of one project the oldest comes first. One that is to be tried again leaves its
 * place to others meanwhile. What is not finished when the server stops goes on after the next start.
 */
export class JobRunner implements WorkUnderWay {
  readonly #options: JobRunnerOptions;
  readonly #now: () => Micros;
  readonly #kinds = new Map<string, JobWork>();
  readonly #running = new Map<string, UnderWay>();
  /** Of jobs that are to be tried again. */
  readonly #attempts = new Map<string, Attempts>();
  /** Projects by when a job of them was last begun, the latest last. */
  readonly #served = new Set<string>();
  #timer: NodeJS.Timeout | null = null;
  #isOpen = false;

  constructor(options: JobRunnerOptions) {
    this.#options = options;
    this.#now = options.now ?? (() => Date.now() * 1000);
  }

  /** Says how jobs of a kind are done; before `start`. */
  register(kind: string, work: JobWork): void {
    this.#kinds.set(kind, work);
  }

  /** Goes on with what is not finished. */
  start(): void {
    this.#isOpen = true;
    this.#fill();
  }

  /** Gives up calls under way and resolves when nothing runs any more; finished steps are kept. */
  async close(): Promise<void> {
    this.#isOpen = false;
    if (this.#timer !== null) clearTimeout(this.#timer);
    for (const { abort } of this.#running.values()) abort.abort();
    await Promise.all([...this.#running.values()].map(({ ended }) => ended));
  }

  /** Jobs that work with what vanished have ended by now; those that may show a judge some of it begin again. */
  async giveUp({ projectId, spans, judges, jobs }: Vanished): Promise<void> {
    const given = [...this.#running.values()].filter(
      ({ job }) => job.project_id === projectId && (spans === null || judges.size > 0 || jobs.has(job.id)),
    );
    for (const { abort } of given) abort.abort();
    await Promise.all(given.map(({ ended }) => ended));
  }

  /** @throws DomainError `conflict` when too many are not finished */
  create(draft: JobDraft): Job {
    const { store } = this.#options;
    if (store.countUnfinished(draft.project_id) >= MAX_UNFINISHED)
      throw new DomainError('conflict', `${MAX_UNFINISHED} jobs of this project are not finished yet`);
    const job: Job = {
      ...draft,
      id: randomUUID(),
      state: 'queued',
      phase: null,
      total: null,
      done: 0,
      result: null,
      error: null,
      created_at: this.#now(),
      finished_at: null,
    };
    store.insert(job);
    // In another turn, so that the caller has the job before anything happens to it.
    setImmediate(() => this.#fill());
    return job;
  }

  /** @throws DomainError `not_found`; `conflict` when it has ended */
  cancel(projectId: string, kind: string, id: string): Job {
    const { store, observer } = this.#options;
    const job = this.find(projectId, kind, id);
    if (!store.end(id, { state: 'cancelled' }, this.#now()))
      throw new DomainError('conflict', `The job has ended already: it is ${job.state}`);
    this.#running.get(id)?.abort.abort();
    observer.jobFinished({ id, kind, result: 'cancelled' });
    return this.find(projectId, kind, id);
  }

  /** @throws DomainError `not_found` */
  find(projectId: string, kind: string, id: string): Job {
    const job = this.#options.store.find(projectId, kind, id);
    if (job === undefined) throw new DomainError('not_found', 'There is no such job');
    return job;
  }

  #fill(): void {
    if (!this.#isOpen) return;
    try {
      const unfinished = this.#options.store.unfinished();
      for (const id of this.#attempts.keys()) if (!unfinished.some((job) => job.id === id)) this.#attempts.delete(id);
      for (let next = this.#next(unfinished); next !== undefined; next = this.#next(unfinished)) this.#begin(next);
      const waits = [...this.#attempts.values()].map(({ notBefore }) => notBefore - performance.now());
      this.#fillIn(Math.min(Infinity, ...waits.filter((ms) => ms > 0)));
    } catch (error) {
      this.#options.observer.jobFailed({ id: 'none', kind: 'none', error, final: false });
      this.#fillIn(RETRY_MS);
    }
  }

  /** The oldest job of the project that has waited longest for one to begin. */
  #next(unfinished: readonly JobHead[]): JobHead | undefined {
    const { atOnce, ofProject } = this.#options.limits;
    if (this.#running.size >= atOnce) return undefined;
    const running = [...this.#running.values()];
    const now = performance.now();
    const candidates = unfinished.filter(
      ({ id, project_id }) =>
        !this.#running.has(id) &&
        (this.#attempts.get(id)?.notBefore ?? 0) <= now &&
        running.filter(({ job }) => job.project_id === project_id).length < ofProject,
    );
    const first = [...this.#served].find((project) => candidates.some(({ project_id }) => project_id === project));
    return (
      candidates.find(({ project_id }) => !this.#served.has(project_id)) ??
      candidates.find(({ project_id }) => project_id === first)
    );
  }

  #fillIn(ms: number): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = ms === Infinity ? null : setTimeout(() => this.#fill(), Math.ceil(ms));
    this.#timer?.unref();
  }

  #begin(job: JobHead): void {
    const { id, project_id: project } = job;
    this.#served.delete(project);
    this.#served.add(project);
    const abort = new AbortController();
    const ended = this.#run(job, abort.signal).finally(() => {
      this.#running.delete(id);
      this.#fill();
    });
    this.#running.set(id, { job, abort, ended });
  }

  /** One attempt. Never rejects. */
  async #run(job: JobHead, signal: AbortSignal): Promise<void> {
    const { store, observer } = this.#options;
    const { id, kind } = job;
    try {
      const result = await this.#work(job, signal);
      if (store.end(id, { state: 'done', result }, this.#now())) observer.jobFinished({ id, kind, result: 'done' });
      this.#attempts.delete(id);
    } catch (error) {
      if (signal.aborted) return;
      const retryable = isRetryable(error);
      const attempts = this.#failedOnce(job);
      const isLast = !retryable || attempts.failed >= this.#options.limits.maxAttempts;
      if (!(error instanceof JobFailure)) observer.jobFailed({ id, kind, error, final: isLast });
      const reason = retryable
        ? new JobFailure(`Given up after ${attempts.failed} attempts: a store did not answer`)
        : error;
      if (isLast && this.#giveUp(job, reason)) this.#attempts.delete(id);
      else this.#attempts.set(id, attempts);
    }
  }

  /** Attempts in a row in which nothing got done. */
  #failedOnce({ id, project_id, kind, done: doneAtFirst }: JobHead): Attempts {
    const before = this.#attempts.get(id);
    const done = this.#doneOf(project_id, kind, id) ?? before?.done ?? doneAtFirst;
    const failed = before !== undefined && done === before.done ? before.failed + 1 : 1;
    const waitMs = retryDelay(failed, this.#options.retryBaseMs ?? RETRY_MS, null);
    return { failed, done, notBefore: performance.now() + waitMs };
  }

  /** Undefined when the store does not answer. */
  #doneOf(projectId: string, kind: string, id: string): number | undefined {
    try {
      return this.#options.store.find(projectId, kind, id)?.done;
    } catch {
      return undefined;
    }
  }

  async #work(head: JobHead, stop: AbortSignal): Promise<unknown> {
    const { store } = this.#options;
    const work = this.#kinds.get(head.kind);
    if (work === undefined) throw new JobFailure(`This server knows no jobs of kind ${head.kind}`);
    const job = this.find(head.project_id, head.kind, head.id);
    const steps = store.steps(job.id);
    const attempt = new AbortController();
    const signal = AbortSignal.any([stop, attempt.signal]);
    return work({
      job,
      signal,
      enter: (phase, total) => store.progress(job.id, phase, total),
      step: async <T>(name: string, step: () => Promise<T>): Promise<T> => {
        if (steps.has(name)) return steps.get(name) as T;
        const result = await step();
        store.addStep(job.id, name, result);
        steps.set(name, result);
        return result;
      },
      each: (items, task) => eachOf(items, task, attempt, signal),
    });
  }

  /** False when even that fails; then it is tried again. */
  #giveUp({ id, kind }: JobHead, error: unknown): boolean {
    const { store, observer } = this.#options;
    const reason = error instanceof JobFailure ? error.message : 'The job met a defect; the log of the server has more';
    try {
      if (store.end(id, { state: 'failed', error: reason }, this.#now()))
        observer.jobFinished({ id, kind, result: 'failed' });
      return true;
    } catch {
      return false;
    }
  }
}

/** Resolves or rejects when nothing of it runs any more. */
async function eachOf<I, O>(
  items: readonly I[],
  work: (item: I) => Promise<O>,
  attempt: AbortController,
  signal: AbortSignal,
): Promise<O[]> {
  const failures: unknown[] = [];
  const results = await pLimit(ITEMS_AT_ONCE).map(items, async (item): Promise<O[]> => {
    if (signal.aborted) return [];
    try {
      return [await work(item)];
    } catch (error) {
      failures.push(error);
      attempt.abort();
      return [];
    }
  });
  if (failures.length > 0) throw failures[0];
  signal.throwIfAborted();
  return results.flat();
}
