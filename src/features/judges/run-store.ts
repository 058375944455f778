import type { Micros } from '../../engine/timestamp.js';
import type { Evaluation } from './evaluation.js';
import type { Window } from '../../engine/schema/page.js';
import type { Run, RunDraft, RunState } from './run.js';

/** How a run ended or continues. */
export type RunOutcome =
  | { readonly kind: 'evaluated'; readonly run: Run; readonly evaluation: Omit<Evaluation, 'created_at'> }
  | { readonly kind: 'retry'; readonly run: Run; readonly reason: string; readonly at: Micros }
  | { readonly kind: 'failed'; readonly run: Run; readonly reason: string }
  /** It was too early: no attempt was made. */
  | { readonly kind: 'postponed'; readonly run: Run; readonly at: Micros }
  /** The run's span was deleted, or there is nothing to evaluate: nothing is left of the run. */
  | { readonly kind: 'dropped'; readonly run: Run };

/** How far the arrived spans of a project were looked at. */
export interface Looked {
  /** Spans that arrived up to here were looked at, */
  readonly arrived_at: Micros;
  /** but by these judges, by their ids: each up to another moment. */
  readonly behind: Readonly<Record<string, Micros>>;
}

export interface FeedPosition extends Looked {
  /** Spans that arrived up to here came while judges could not run. */
  readonly began_at: Micros;
}

/** How many traces or sessions new spans have queued for a judge. */
export interface JudgeChanges {
  readonly project_id: string;
  readonly judge_id: string;
  readonly runs: number;
}

export interface QueueState {
  readonly queued: number;
  /** When the oldest queued run was queued, or the wait of its trace or session for quiet was over; null when there is none. */
  readonly oldest: Micros | null;
}

/** A new span that cannot be read: its run has failed before it began. */
export interface FailedDraft {
  readonly draft: RunDraft;
  readonly reason: string;
}

export interface RunPage {
  readonly runs: readonly Run[];
  readonly total: number;
}

/**
 * The durable queue of evaluations. Each method is one transaction. Guarantees: an evaluation is stored together with the
 * removal of its run, or neither; of new spans, a judge and a span get one run and one evaluation, a judge and a trace or
 * session one run at a time.
 * Throws `DomainError('unavailable')` when the store does not answer; nothing is written then.
 */
export interface RunStore {
  /**
   * Queues runs; automatic ones unless queued, failed or evaluated before. Those of traces and sessions unless queued: one that
   * failed is queued again, up to `MAX_FAILED_IN_ROW` times. @returns how many are new
   */
  enqueue(drafts: readonly RunDraft[], at: Micros): number;
  /**
   * Queues runs of a judge that failed before a moment again, the oldest first, with another id each; except for those whose
   * span is queued, failed again or was evaluated since. @returns how many
   */
  retryFailed(judgeId: string, before: Micros, limit: number): number;
  /** How many `retryFailed` would queue without a limit. */
  toRetry(judgeId: string, before: Micros): number;
  /** Queues runs as `enqueue` for new spans of a project, and writes how far these were looked at. */
  advance(
    projectId: string,
    looked: Looked,
    drafts: readonly RunDraft[],
    at: Micros,
    failed?: readonly FailedDraft[],
  ): number;
  /** Notes that judges run from now on; spans that arrived up to here came before, unless judges ran already. */
  begin(now: Micros): void;
  /** Notes that judges do not run: the next position starts over. */
  forget(): void;
  /** Position of a project; undefined while judges do not run. */
  position(projectId: string): FeedPosition | undefined;
  /** Writes how far spans were looked at, by project. */
  setLooked(looked: ReadonlyMap<string, Looked>): void;
  /** Projects with runs that are to be tried now, in the order of their ids. */
  dueProjects(now: Micros): string[];
  /** Runs of a project to be tried now, in the order in which they are due. @param except judges that are left out */
  due(projectId: string, now: Micros, limit: number, except?: readonly string[]): Run[];
  /** When the next run of any project is to be tried that is not due now. */
  nextDue(after: Micros): Micros | null;
  /** Has runs be tried now that were to be tried after a moment, some of them. @param wholes the moment for those of traces and sessions @returns how many */
  hasten(after: Micros, wholes: Micros, now: Micros): number;
  /** Count of queued runs by project, except for those that {@link changes} counts. */
  queued(): Map<string, number>;
  /** Count of what new spans have queued about traces and sessions: as a rule it waits for these to be quiet. */
  changes(): JudgeChanges[];
  /** Which of these runs are still queued: the others were cancelled, or their spans deleted. */
  stillQueued(ids: readonly string[]): Set<string>;
  /**
   * Notes the traces that a judge is shown for a run about a trace or session, before a model is asked: the deletion of any
   * span of them finds the run by it. @returns whether the run is still queued; else nothing is noted
   */
  noteShown(run: Run, traceIds: readonly string[]): boolean;
  /** Call before traces or sessions of runs are read: spans that come from then on are changes, after which a run is queued again. */
  reading(ids: readonly string[]): void;
  /** Writes how runs ended; one cancelled meanwhile leaves nothing behind. @returns the stored evaluations */
  settle(outcomes: readonly RunOutcome[], at: Micros): Evaluation[];
  state(now: Micros): QueueState;
  /** Runs of a judge in a state (null: any), newest first. @param running ids of the queued runs that are running */
  list(judgeId: string, state: RunState | null, running: readonly string[], window: Window): RunPage;
  /** Runs of a judge about a span, newest first. */
  ofSpan(judgeId: string, spanId: string): Run[];
  /** Runs of a judge about a trace or session, newest first. */
  ofWhole(judgeId: string, id: string): Run[];
  /** Count of queued runs before this one. */
  before(run: Run): number;
}
