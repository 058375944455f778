import type { Micros } from '../timestamp.js';

export const JOB_STATES = ['queued', 'running', 'done', 'failed', 'cancelled'] as const;
export type JobState = (typeof JOB_STATES)[number];

/** Long work that goes on after a restart, as lists show it. */
export interface JobHead {
  /** Lower-case UUID. */
  readonly id: string;
  readonly project_id: string;
  readonly kind: string;
  /** Id of the thing that the job is about, such as a judge. */
  readonly subject_id: string;
  readonly state: JobState;
  /** The part of the work that the job is at, in a word. */
  readonly phase: string | null;
  /** Steps in all; null: not known yet. */
  readonly total: number | null;
  readonly done: number;
  /** How far work in portions is, so that the next one begins there; small JSON. Null: work in steps, or not begun. */
  readonly checkpoint: unknown;
  /** The summary that lists show; small JSON. */
  readonly summary: unknown;
  /** Why the job failed. */
  readonly error: string | null;
  readonly created_at: Micros;
  readonly created_by: string;
  readonly finished_at: Micros | null;
}

export interface Job extends JobHead {
  /** All that the work depends on, as it was when the job was made; JSON. */
  readonly input: unknown;
  /** Result of a job that is done; JSON. */
  readonly result: unknown;
}

/** The job may not go on now: it waits, and nothing of it has failed. */
export class JobPaused extends Error {
  constructor() {
    super('The job waits');
    this.name = 'JobPaused';
  }
}

/** How a job ended. */
export type JobEnd =
  | { readonly state: 'done'; readonly result: unknown }
  | { readonly state: 'failed'; readonly error: string }
  | { readonly state: 'cancelled' };

/** Where jobs and their steps are kept. Each call is one durable transaction. Throws DomainError `unavailable`. */
export interface JobStore {
  insert(job: Job): void;
  find(projectId: string, kind: string, id: string): Job | undefined;
  /** Jobs of one kind and subject, newest first. */
  list(projectId: string, kind: string, subjectId: string, limit: number): JobHead[];
  /** Unfinished jobs of some kinds in all projects, oldest first. */
  unfinished(kinds: readonly string[]): JobHead[];
  countUnfinished(projectId: string, kinds: readonly string[]): number;
  /** Sets the phase and the number of steps; nothing happens to a job that has ended. */
  progress(id: string, phase: string, total: number | null): void;
  /** Keeps how far work in portions is; also of a job that was cancelled meanwhile, as that is what was done. */
  advance(id: string, done: number, checkpoint: unknown): void;
  /** Ends a job; false when it had ended already. */
  end(id: string, end: JobEnd, at: Micros): boolean;
  /** Results of the steps that are done, by name. */
  steps(id: string): Map<string, unknown>;
  /** A job by its id alone. */
  findById(id: string): Job | undefined;
  /** Writes input and result anew, without some spans, of a job that has ended; its steps are forgotten. */
  forgetSpans(job: Pick<Job, 'id' | 'input' | 'result'>, spanIds: readonly string[]): void;
  /**
   * Notes traces that a job is about to show a model, by the span of the job that stands for them: the deletion of any span of
   * them finds the job by it. @returns whether the job has not ended; else nothing is noted
   */
  noteTraces(id: string, spanId: string, traceIds: readonly string[]): boolean;
  /** Keeps the result of a step and counts it as done. */
  addStep(id: string, step: string, result: unknown): void;
}

/** Input and result of a job that has ended, without what came from deleted spans. */
export type WithoutSpans = (job: Job, gone: ReadonlySet<string>) => Pick<Job, 'input' | 'result'>;

/** Says that a job cannot go on; the message says why and is shown to whoever asked for the job. */
export class JobFailure extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'JobFailure';
  }
}
