import { setTimeout as sleep } from 'node:timers/promises';
import { DomainError, type Issue } from '../../../errors.js';

/** What is stored under ids. Each throws DomainError `unavailable`. */
export interface StoredIds {
  /** Whether a trace or a session has the id; null: neither. */
  groupWith(projectId: string, id: string): Promise<'trace' | 'session' | null>;
  exists(projectId: string, type: 'span', id: string): Promise<boolean>;
  /** Whether any span of a trace is stored. */
  hasSpans(projectId: string, traceId: string): Promise<boolean>;
  /** Whether a span names the id as that of its parent. */
  isParent(projectId: string, id: string): Promise<boolean>;
}

/** The longest wait for what the id names: what is said of a span is not lost because the store is slow or away. */
const ANSWER_MS = 2_000;

/** Finds ids of traces and sessions that were sent in the place of a span's. */
export class MistakenIds {
  readonly #stored: StoredIds;

  constructor(stored: StoredIds) {
    this.#stored = stored;
  }

  /**
   * An issue for the id of a stored trace or session that no span has; none where its span may arrive later, as nothing is stored
   * under the id, its children alone or what was posted about the trace, or when the store does not answer.
   * @param spanId lower-case UUID
   * @param span what the span is to the caller, as in "the span that is …"
   */
  async issues(projectId: string, spanId: string, pointer: string, span: string): Promise<Issue[]> {
    const answered = new AbortController();
    try {
      const type = await Promise.race([
        this.#typeOf(projectId, spanId),
        sleep(ANSWER_MS, null, { signal: answered.signal }),
      ]);
      if (type === null) return [];
      const advice = `send that of the span that is ${span}; GET /spans?${type}_id=${spanId} lists the spans of the ${type}`;
      return [{ pointer, detail: `is the id of a ${type}: ${advice}` }];
    } catch (error) {
      if (error instanceof DomainError) return [];
      throw error;
    } finally {
      answered.abort();
    }
  }

  async #typeOf(projectId: string, id: string): Promise<'trace' | 'session' | null> {
    const type = await this.#stored.groupWith(projectId, id);
    if (type === null || (await this.#stored.exists(projectId, 'span', id))) return null;
    // A root may have the id of its trace. Traces may be posted before their spans, and children end first, so that they arrive first.
    if (type === 'trace' && !(await this.#stored.hasSpans(projectId, id))) return null;
    return (await this.#stored.isParent(projectId, id)) ? null : type;
  }
}
