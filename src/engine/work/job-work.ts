import type { Job } from './job.js';

/** The job, and the ways to report and keep its progress, as its work is given them. */
export interface JobContext {
  readonly job: Job;
  /** Aborted when the job is cancelled and when the server stops. */
  readonly signal: AbortSignal;
  /** Attempts in a row that failed before this one, with nothing done in between. */
  readonly failedAttempts: number;
  /** Sets the job's phase, and how many steps it has in all. */
  enter(phase: string, total: number | null): void;
  /** Keeps how far work in portions is, and how many steps are done with that; also when the job was cancelled meanwhile. */
  advance(done: number, checkpoint: unknown): void;
  /**
   * The result of a step, by a name that is its own within the job: the kept one when the step was done before a
   * restart, else that of the work, which is kept. Results are JSON. Work that is given up
   * must throw.
   */
  step<T>(name: string, work: () => Promise<T>): Promise<T>;
  /** Notes traces before any of their texts are read for one of the job's spans. @throws JobFailure when the job has ended */
  willShow(spanId: string, traceIds: readonly string[]): void;
  /** Works on every item, a few at a time. When one fails, the others are given up, and its error is thrown. */
  each<I, O>(items: readonly I[], work: (item: I) => Promise<O>): Promise<O[]>;
}

/** Result of work that has done a portion: the job goes on when it is the turn of its project again. */
export const TO_BE_CONTINUED = Symbol('to be continued');

/**
 * The work of one kind of jobs: from the job's input to its result, JSON both. Work begins anew after a restart, so whatever
 * must not be done twice is a step. Work that may take hours without waiting for anyone is done in portions, see
 * {@link TO_BE_CONTINUED}.
 * @throws JobFailure; DomainError `unavailable` or `overloaded`: the job is tried again; JobPaused: it goes on once it may
 */
export type JobWork = (context: JobContext) => Promise<unknown>;
