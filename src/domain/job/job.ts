import type { Micros } from '../time/timestamp.js';

export const JOB_STATES = ['queued', 'running', 'done', 'failed', 'cancelled'] as const;
export type JobState = (typeof JOB_STATES)[number];

/** Long work that goes on after a restart, as lists show it. */
export interface JobHead {
  /** Lower-case UUID. */
  readonly id: string;
  readonly project_id: string;
  readonly kind: string;
  /** Id of what it is about, such as a judge. */
  readonly subject_id: string;
  readonly state: JobState;
  /** What it is at, in a word. */
  readonly phase: string | null;
  /** Steps; null: not known yet. */
  readonly total: number | null;
  readonly done: number;
  /** How far work in portions is, so that the next one begins there; small JSON. Null: work in steps, or not begun. */
  readonly checkpoint: unknown;
  /** What lists show of it; small JSON. */
  readonly summary: unknown;
  /** Why it failed. */
  readonly error: string | null;
  readonly created_at: Micros;
  readonly created_by: string;
  readonly finished_at: Micros | null;
}

export interface Job extends JobHead {
  /** All that the work depends on, as it was when the job was made; JSON. */
  readonly input: unknown;
  /** What came of it, when it is done; JSON. */
  readonly result: unknown;
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
  /** Of one subject, newest first. */
  list(projectId: string, kind: string, subjectId: string, limit: number): JobHead[];
  /** Of some kinds, in all projects, oldest first. */
  unfinished(kinds: readonly string[]): JobHead[];
  countUnfinished(projectId: string, kinds: readonly string[]): number;
  /** Nothing happens to a job that has ended. */
  progress(id: string, phase: string, total: number | null): void;
  /** Keeps how far work in portions is; also of a job that was cancelled meanwhile, as that is what was done. */
  advance(id: string, done: number, checkpoint: unknown): void;
  /** False when it had ended already: a job ends once. */
  end(id: string, end: JobEnd, at: Micros): boolean;
  /** Results of the steps that are done, by name. */
  steps(id: string): Map<string, unknown>;
  /** A job by its id alone. */
  findById(id: string): Job | undefined;
  /** Writes input and result anew, without some spans, of a job that has ended; its steps are forgotten. */
  forgetSpans(job: Pick<Job, 'id' | 'input' | 'result'>, spanIds: readonly string[]): void;
  /** Keeps the result of a step and counts it as done. */
  addStep(id: string, step: string, result: unknown): void;
}

/** What is left of the input and the result of a job that has ended, when spans that it worked with are deleted. */
export type WithoutSpans = (job: Job, gone: ReadonlySet<string>) => Pick<Job, 'input' | 'result'>;

/** The job cannot go on; its message says why and is shown to whoever asked for it. */
export class JobFailure extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'JobFailure';
  }
}
