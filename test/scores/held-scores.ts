import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import type { CheckedApi } from '../harness/checked-api.js';
import { score, type ScoreApi } from './score-api.js';

const TRACES = 8;
const SESSIONS = 3;
const SPANS_PER_TRACE = 3;

type Type = 'span' | 'trace' | 'session';

interface Given {
  readonly type: Type;
  readonly id: string;
  readonly name: string;
  readonly value: number;
}

/** Traces and sessions of one project, and the scores of them and of what is in them, beside a recount. */
export class HeldScores {
  readonly #api: CheckedApi;
  readonly #scores: ScoreApi;
  readonly #next: (below: number) => number;
  readonly #sessions = Array.from({ length: SESSIONS }, () => randomUUID());
  /** The spans of each trace, and its session. */
  readonly #traces = new Map<string, { readonly spans: string[]; session: string }>();
  /** By the id of the score, the last one last. */
  readonly #given = new Map<string, Given>();

  /** @param next a random number below another */
  constructor(api: CheckedApi, scores: ScoreApi, next: (below: number) => number) {
    this.#api = api;
    this.#scores = scores;
    this.#next = next;
    for (let trace = 0; trace < TRACES; trace += 1) {
      const spans = Array.from({ length: SPANS_PER_TRACE }, () => randomUUID());
      this.#traces.set(randomUUID(), { spans, session: this.#sessions[trace % SESSIONS] ?? '' });
    }
  }

  async sendAll(): Promise<void> {
    for (const trace of this.#traces.keys()) await this.#send(trace);
  }

  /** Scores, takes scores back, moves a trace to another session, or deletes a span. */
  async change(): Promise<void> {
    const what = this.#next(8);
    if (what === 0) await this.#move();
    else if (what === 1) await this.#deleteSpan();
    else if (what === 2) await this.#takeBack();
    else await this.#give();
  }

  /** Compares pages that are sorted by a score, and those that are found by it. */
  async check(step: string): Promise<void> {
    const name = this.#next(3) === 0 ? 'width' : 'depth';
    for (const list of ['traces', 'sessions'] as const) {
      const ids = list === 'traces' ? [...this.#traces.keys()] : [...new Set(this.#all().map((each) => each.session))];
      const values = new Map(ids.map((id) => [id, this.#newest(list, id, name)]));
      const [limit, offset] = [1 + this.#next(4), this.#next(2)];
      for (const order of ['desc', 'asc'] as const) {
        const sign = order === 'desc' ? -1 : 1;
        const page = `limit=${limit}&offset=${offset}&sort_by=scores.${name}&sort_order=${order}`;
        const sorted = [...values.values()].flatMap((value) => value ?? []).sort((a, b) => sign * (a - b));
        const shown = (await this.#api.ids(list, page)).flatMap((id) => values.get(id) ?? []);
        expect(shown, `${step}, ${list}, ${page}`).to.deep.equal(sorted.slice(offset, offset + limit));
      }
      const met = ids.filter((id) => [0.25, 0.5].includes(values.get(id) ?? -1));
      const found = await this.#api.ids(list, `scores.${name}=0.2..0.6`);
      expect(found.sort(), `${step}, ${list} found by ${name}`).to.deep.equal(met.sort());
    }
  }

  #newest(list: 'traces' | 'sessions', id: string, name: string): number | undefined {
    const traces = [...this.#traces].filter(([trace, { session }]) => id === (list === 'traces' ? trace : session));
    const held = new Set([id, ...traces.flatMap(([trace, { spans }]) => [trace, ...spans])]);
    return [...this.#given.values()].filter((given) => given.name === name && held.has(given.id)).at(-1)?.value;
  }

  async #give(): Promise<void> {
    const some = Array.from({ length: 1 + this.#next(4) }, () => {
      const [trace, { spans, session }] = this.#oneOf([...this.#traces]);
      const type = this.#oneOf<Type>(['span', 'span', 'span', 'trace', 'session']);
      const id = { span: this.#oneOf(spans), trace, session }[type];
      return { type, id, name: this.#oneOf(['depth', 'depth', 'width']), value: this.#next(5) / 4 };
    });
    const each = [...new Map(some.map((given) => [`${given.id} ${given.name}`, given])).values()];
    const stored = await this.#scores.post(
      each.map(({ type, id, name, value }) => score({ entity_type: type, entity_id: id, name, value })),
    );
    each.forEach((given, index) => {
      this.#given.delete(stored[index].id);
      this.#given.set(stored[index].id, given);
    });
  }

  async #takeBack(): Promise<void> {
    const id = [...this.#given.keys()].at(-1 - this.#next(2));
    if (id === undefined) return;
    expect((await this.#scores.remove(id)).status).to.equal(204);
    this.#given.delete(id);
  }

  async #move(): Promise<void> {
    const [trace, now] = this.#oneOf([...this.#traces]);
    // Of a session that is gone, a deletion would take the scores.
    if (this.#all().filter(({ session }) => session === now.session).length === 1) return;
    now.session = this.#oneOf(this.#sessions);
    await this.#send(trace);
  }

  async #deleteSpan(): Promise<void> {
    const { spans } = this.#oneOf(this.#all());
    const span = spans.length > 1 ? spans.pop() : undefined;
    if (span === undefined) return;
    expect((await this.#api.server.request('DELETE', `/spans/${span}`)).status).to.equal(204);
    for (const [id, given] of this.#given) if (given.id === span) this.#given.delete(id);
  }

  async #send(trace: string): Promise<void> {
    const { spans = [], session } = this.#traces.get(trace) ?? {};
    const sent = { trace_id: trace, session_id: session, name: 'held', started_at: '2026-01-15T10:00:00Z' };
    const response = await this.#api.send('POST', 'spans', '', { body: spans.map((id) => ({ id, ...sent })) });
    expect(response.status, response.text).to.equal(200);
  }

  #all() {
    return [...this.#traces.values()];
  }

  #oneOf<T>(all: readonly T[]): T {
    return all[this.#next(all.length)] as T;
  }
}
