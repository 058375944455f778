import type { Readable } from 'node:stream';
import type { SessionRead, TraceRead } from './fields.js';
import type { ListQuery } from './query.js';

/** A page as the bytes of a JSON array, ready to be sent. */
export interface Page {
  readonly json: Readable | Buffer;
  /** Count of all rows that match; null when it was not asked for. */
  readonly total: number | null;
  /**
   * Traces of the project, or sessions in a list of these, that are too large to be recomputed as a whole: their tags, and
   * in the worst case all their figures, may lack writes. In a list of spans: traces of which replaced spans may appear.
   */
  readonly notCurrent: readonly string[];
}

/**
 * Reads of the three lists. Each sees every write acknowledged before the call, is limited in time and memory, and
 * answers rows in an order that is the same on every call over unchanged data.
 *
 * @throws DomainError `unavailable` when a limit is met or the store does not answer.
 */
export interface Lists {
  spans(projectId: string, query: ListQuery, signal?: AbortSignal): Promise<Page>;
  traces(projectId: string, query: ListQuery, signal?: AbortSignal): Promise<Page>;
  sessions(projectId: string, query: ListQuery, signal?: AbortSignal): Promise<Page>;
  /** The given traces that exist, by id. */
  tracesById(projectId: string, ids: readonly string[]): Promise<Map<string, TraceRead>>;
  sessionsById(projectId: string, ids: readonly string[]): Promise<Map<string, SessionRead>>;
}
