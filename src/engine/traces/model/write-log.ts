import type { Score } from './score/score.js';
import type { Span } from './span/span.js';
import type { Micros } from '../../timestamp.js';
import type { PostedSession, PostedTrace } from './trace/posted.js';

/** Writes of one request: all of them are acknowledged, or none. */
export interface Writes {
  readonly projectId: string;
  readonly spans?: readonly Span[];
  readonly traces?: readonly PostedTrace[];
  readonly sessions?: readonly PostedSession[];
  readonly scores?: readonly Score[];
}

/** When each span, and each score, was taken in, in the order of the request. No two ever share a moment: it names the version. */
export interface WriteReceipt {
  readonly createdAt: readonly Micros[];
  /** Absent: no scores were written. */
  readonly scoredAt?: readonly Micros[];
}

/**
 * The log that every write goes through. Guarantees:
 * - once the promise resolves, everything is durable and every later read sees it, in lists and in figures;
 * - writes are ordered: of two writes of the same thing, the one appended later wins as a whole;
 * - writing the same again changes no figure;
 * - a rejection says that nothing was acknowledged; writing again is safe.
 *
 * @throws DomainError `overloaded` when the bounded queue is full, `unavailable` when the store does not answer.
 */
export interface WriteLog {
  /** Asks before work is spent on a request. @throws what `append` would throw now, whatever it is given */
  admit(projectId: string): void;
  append(writes: Writes): Promise<WriteReceipt>;
}
