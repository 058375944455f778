import type { Micros } from '../time/timestamp.js';
import type { Evaluation } from './evaluation.js';
import type { Window } from '../schema/page.js';
import type { Run, RunDraft, RunState } from './run.js';

/** How a run ended or goes on. */
export type RunOutcome =
  | { readonly kind: 'evaluated'; readonly run: Run; readonly evaluation: Omit<Evaluation, 'created_at'> }
  | { readonly kind: 'retry'; readonly run: Run; readonly reason: string; readonly at: Micros }
  | { readonly kind: 'failed'; readonly run: Run; readonly reason: string }
  /** Its span was deleted: nothing is left of it. */
  | { readonly kind: 'dropped'; readonly run: Run };

/** How far the arrived spans of a project were looked at. */
export interface FeedPosition {
  /** Spans that arrived up to here came while judges could not run. */
  readonly began_at: Micros;
  /** Spans that arrived up to here were looked at. */
  readonly arrived_at: Micros;
}

export interface QueueState {
  readonly queued: number;
  /** When the oldest queued run was queued; null when there is none. */
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
 * removal of its run, or neither; of new spans, a judge and a span get one run and one evaluation.
 * Throws `DomainError('unavailable')` when the store does not answer; nothing is written then.
 */
export interface RunStore {
  /** Queues what is not queued, failed or evaluated by itself already. @returns how many are new */
  enqueue(drafts: readonly RunDraft[], at: Micros): number;
  /** The same for new spans of a project, together with how far they were looked at. */
  advance(
    projectId: string,
    arrivedAt: Micros,
    drafts: readonly RunDraft[],
    at: Micros,
    failed?: readonly FailedDraft[],
  ): number;
  /** Judges run from now on; what arrived up to here came before, unless they ran already. */
  begin(now: Micros): void;
  /** Judges do not run: the next position begins anew. */
  forget(): void;
  /** Undefined while judges do not run. */
  position(projectId: string): FeedPosition | undefined;
  /** How far spans were looked at, by project. */
  setArrived(arrived: ReadonlyMap<string, Micros>): void;
  /** Projects with runs that are to be tried now, in the order of their ids. */
  dueProjects(now: Micros): string[];
  /** Those of a project to be tried now, in the order in which they are due. @param except judges that are left out */
  due(projectId: string, now: Micros, limit: number, except?: readonly string[]): Run[];
  /** When the next one of any project is to be tried that is not due now. */
  nextDue(after: Micros): Micros | null;
  /** How many are queued, by project. */
  queued(): Map<string, number>;
  /** Which of these runs are still queued: the others were cancelled, or their spans deleted. */
  stillQueued(ids: readonly string[]): Set<string>;
  /** Writes how runs ended. One that was cancelled meanwhile leaves nothing behind. @returns the stored evaluations */
  settle(outcomes: readonly RunOutcome[], at: Micros): Evaluation[];
  state(): QueueState;
  /** Newest first; null: in every state. @param running ids of the queued runs that are running */
  list(judgeId: string, state: RunState | null, running: readonly string[], window: Window): RunPage;
  /** Of a judge and span, newest first. */
  ofSpan(judgeId: string, spanId: string): Run[];
  /** How many queued runs come before it. */
  before(run: Run): number;
}
