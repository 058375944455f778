import type { ClickHouseClient } from './client.js';

/** How old an answer may be that others get, too: anybody may ask, as often as they like. */
const VALID_MS = 1_000;

/** Whether ClickHouse responds; asked at most once a second, for all callers. */
export class Liveness {
  readonly #client: Pick<ClickHouseClient, 'ping'>;
  #asked: { readonly at: number; readonly answer: Promise<boolean> } | undefined;

  constructor(client: Pick<ClickHouseClient, 'ping'>) {
    this.#client = client;
  }

  /** As of a question that was asked within the last second. */
  answers(): Promise<boolean> {
    const now = performance.now();
    if (this.#asked === undefined || now - this.#asked.at >= VALID_MS)
      this.#asked = { at: now, answer: this.#client.ping() };
    return this.#asked.answer;
  }
}
