import type { Lists } from '../../engine/traces/model/list/lists.js';
import type { Deletion, DeletionItem, DeletionStore } from './deletion-store.js';

export interface ToldTracesParts {
  readonly store: Pick<DeletionStore, 'hasToldOf' | 'toldOf' | 'removeOfTrace' | 'removeOfTraceSpans'>;
  readonly lists: Pick<Lists, 'tracesById'>;
  /** Lets others have their turn. @throws when the deletion is cut off */
  readonly rest: () => Promise<void>;
}

/** Traces that are looked up together. */
const TRACES_AT_ONCE = 500;
/** Those of which it is asked whether they are still there, which reads them. */
const ASKED_AT_ONCE = 50;

/** Removes comments on what is gone, and links to traces that are. */
export class ToldTraces {
  readonly #parts: ToldTracesParts;

  constructor(parts: ToldTracesParts) {
    this.#parts = parts;
  }

  /** @param pages spans, posted traces and calls that went */
  async remove(deletion: Deletion, pages: AsyncIterable<readonly DeletionItem[]>): Promise<void> {
    if (!this.#parts.store.hasToldOf(deletion.project_id)) return;
    for await (const items of pages) await this.#removeOfPage(deletion, items);
  }

  async #removeOfPage(deletion: Deletion, items: readonly DeletionItem[]): Promise<void> {
    const { store, rest } = this.#parts;
    const spans = new Map<string, string[]>();
    for (const { kind, trace_id, id } of items) {
      if (trace_id === '') continue;
      const known = spans.get(trace_id) ?? [];
      if (kind !== 'trace') known.push(id);
      spans.set(trace_id, known);
    }
    const ids = [...spans.keys()];
    for (let from = 0; from < ids.length; from += TRACES_AT_ONCE) {
      const told = store.toldOf(deletion.project_id, ids.slice(from, from + TRACES_AT_ONCE));
      for (let at = 0; at < told.length; at += ASKED_AT_ONCE)
        await this.#removeOf(deletion, told.slice(at, at + ASKED_AT_ONCE), spans);
      await rest();
    }
  }

  async #removeOf(
    deletion: Deletion,
    traceIds: readonly string[],
    spans: ReadonlyMap<string, readonly string[]>,
  ): Promise<void> {
    const { store, lists, rest } = this.#parts;
    const standing = await lists.tracesById(deletion.project_id, traceIds);
    for (const id of traceIds) {
      const isBack = standing.has(id);
      const remove =
        isBack && deletion.whole_traces === 0
          ? () => store.removeOfTraceSpans(deletion, id, spans.get(id) ?? [])
          : () => store.removeOfTrace(deletion, id, isBack);
      while (remove()) await rest();
    }
  }
}
