import type { Remote } from '../transfer/remote.js';

const MAX_SPANS = 500_000;

/** The spans that were sent as they are, by which the server is asked how many it has of that time. */
export class SpanSample {
  readonly #spans = new Set<string>();
  #isWhole = true;
  #first = Infinity;
  #last = -Infinity;

  /** @param start in microseconds */
  add(traceId: string, spanId: string, start: number): void {
    this.#first = Math.min(this.#first, start);
    this.#last = Math.max(this.#last, start);
    if (this.#spans.size < MAX_SPANS) this.#spans.add(`${traceId}${spanId}`);
    else this.#isWhole = false;
  }

  /** Different spans; null: more than are remembered. */
  get spans(): number | null {
    return this.#isWhole ? this.#spans.size : null;
  }

  /** How many spans the server has that started between the first and the last of these. */
  async countOn(remote: Remote): Promise<number> {
    const iso = (micros: number) => new Date(Math.floor(micros / 1000)).toISOString();
    const query = new URLSearchParams({
      ...{ measures: 'count', internal: 'true', experiments: 'true' },
      ...{ started_after: iso(this.#first), started_before: iso(this.#last + 1000) },
    });
    const { totals } = await remote.get<{ readonly totals: { readonly count: number } }>(
      `/spans:stats?${query.toString()}`,
    );
    return totals.count;
  }
}
