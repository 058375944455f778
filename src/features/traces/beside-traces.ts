import { text } from 'node:stream/consumers';
import { DomainError } from '../../engine/errors.js';
import { spanList, traceList } from '../../engine/traces/model/list/definitions.js';
import type { Lists, Page } from '../../engine/traces/model/list/lists.js';
import { byIds } from '../../engine/traces/model/list/one.js';

/** The deletions of a project that are not completed. */
export interface DeletionsUnderWay {
  /** The last deletion before all of these. */
  readonly before: number;
  readonly any: boolean;
}

export interface BesideTracesParts {
  readonly lists: Pick<Lists, 'spans' | 'traces'>;
  readonly deletions: (projectId: string) => DeletionsUnderWay;
}

/** A trace, or a span of it. */
export interface TracePlace {
  readonly project_id: string;
  readonly trace_id: string;
  readonly span_id: string | null;
}

/** Stores what goes with a trace beside it: never beside one that is gone, whatever is deleted meanwhile. */
export class BesideTraces {
  readonly #parts: BesideTracesParts;

  constructor(parts: BesideTracesParts) {
    this.#parts = parts;
  }

  /**
   * @param store stores it; told what it keeps in `after_deletion`
   * @param undo takes it back: the trace went meanwhile, and what went with it was looked for before
   * @throws DomainError `not_found` unless the trace, and the span in it, is stored; what `store` throws
   */
  async keep<T>(place: TracePlace, store: (afterDeletion: number) => T, undo: (stored: T) => void): Promise<T> {
    const { deletions } = this.#parts;
    const { before } = deletions(place.project_id);
    await this.#requireStored(place);
    const stored = store(before);
    const now = deletions(place.project_id);
    if (now.before === before && !now.any) return stored;
    try {
      await this.#requireStored(place);
    } catch (error) {
      undo(stored);
      throw error;
    }
    return stored;
  }

  async #requireStored({ project_id, trace_id, span_id }: TracePlace): Promise<void> {
    const { lists } = this.#parts;
    if (span_id === null) {
      const query = { ...byIds(traceList, { id: trace_id }), fields: ['id'] };
      if (await isEmpty(lists.traces(project_id, query)))
        throw new DomainError('not_found', 'There is no trace with this id');
      return;
    }
    const query = { ...byIds(spanList, { id: span_id, trace_id }), fields: ['id'] };
    if (await isEmpty(lists.spans(project_id, query)))
      throw new DomainError('not_found', 'There is no span with this id in the trace');
  }
}

async function isEmpty(asked: Promise<Page>): Promise<boolean> {
  const { json } = await asked;
  const rows = JSON.parse(Buffer.isBuffer(json) ? json.toString() : await text(json)) as unknown[];
  return rows.length === 0;
}
