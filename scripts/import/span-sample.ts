import { isMembers } from './members.js';
import type { Remote } from '../transfer/remote.js';

const MAX_TRACES = 10_000;
const MAX_SPANS = 300_000;
/** Ids that fit into a URL. */
const AT_ONCE = 100;

/** Some of the traces that were sent, with the ids of their spans, by which they are counted on the server. */
export class SpanSample {
  readonly #traces = new Map<string, Set<string>>();
  #spans = 0;

  add(traceId: string, spanId: string): void {
    let spans = this.#traces.get(traceId);
    if (spans === undefined) {
      if (this.#traces.size === MAX_TRACES) return;
      this.#traces.set(traceId, (spans = new Set()));
    }
    if (this.#spans === MAX_SPANS || spans.has(spanId)) return;
    spans.add(spanId);
    this.#spans += 1;
  }

  get spans(): number {
    return this.#spans;
  }

  get traces(): number {
    return this.#traces.size;
  }

  /** How many spans the server has of these traces. */
  async countOn(remote: Remote): Promise<number> {
    const ids = [...this.#traces.keys()];
    let count = 0;
    for (let from = 0; from < ids.length; from += AT_ONCE) {
      const query = new URLSearchParams({ measures: 'count', internal: 'true', trace_id: ids.slice(from, from + AT_ONCE).join(',') });
      const answer = await remote.get<unknown>(`/spans:stats?${query.toString()}`);
      const totals = isMembers(answer) && isMembers(answer['totals']) ? answer['totals'] : {};
      count += Number(totals['count'] ?? 0);
    }
    return count;
  }
}
