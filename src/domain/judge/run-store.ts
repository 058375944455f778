import type { Micros } from '../time/timestamp.js';
import type { Evaluation } from './evaluation.js';
import type { Window } from './judge-store.js';
import type { Run, RunDraft, RunState } from './run.js';

/** How a run ended or goes on. */
export type RunOutcome =
  | { readonly kind: 'evaluated'; readonly run: Run; readonly evaluation: Omit<Evaluation, 'created_at'> }
  | { readonly kind: 'retry'; readonly run: Run; readonly reason: string; readonly at: Micros }
  | { readonly kind: 'failed'; readonly run: Run; readonly reason: string };

/** How far the arrived spans were looked at. */
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
  /** The same for new spans, together with how far they were looked at. */
  advance(position: FeedPosition, drafts: readonly RunDraft[], at: Micros): number;
  position(): FeedPosition | undefined;
  /** Null forgets it: the next position begins anew. */
  setPosition(position: FeedPosition | null): void;
  /** Those to be tried now, in the order in which they are due. */
  due(now: Micros, limit: number): Run[];
  /** When the next one is to be tried that is not due now. */
  nextDue(after: Micros): Micros | null;
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
