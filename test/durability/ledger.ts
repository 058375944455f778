import type { SessionRead, SpanRead, TraceRead } from '../../src/engine/traces/model/list/fields.js';

/** What clients send; `attributes.rev` tells every write from every other. */
export interface SpanWrite {
  readonly id: string;
  readonly trace_id: string;
  readonly parent_span_id: string | null;
  readonly session_id: string | null;
  readonly name: string;
  readonly status: 'unset' | 'ok' | 'error' | null;
  readonly started_at: string;
  readonly ended_at: string | null;
  readonly cost: number | null;
  readonly error_message: string | null;
  readonly input_data: string;
  readonly trace_tags: { readonly last: string };
  readonly attributes: { readonly rev: number };
}

export interface TraceWrite {
  readonly id: string;
  readonly session_id: string;
  readonly name: string;
  readonly started_at: string;
  readonly attributes: { readonly rev: number };
}

export interface SessionWrite {
  readonly id: string;
  readonly project_id: string;
  readonly name: string;
  readonly attributes: { readonly rev: number };
}

export type Written = { readonly attributes: { readonly rev: number } };

/** What may now be stored of one thing: its last acknowledged write, or a later one whose fate nobody was told. */
interface Possible<W extends Written, R> {
  acknowledged: { readonly write: W; readonly answer: R } | null;
  unknown: W[];
}

/** The writes of one kind of thing. A thing is written by one client, one write after another. */
export class Book<W extends Written, R> {
  readonly things = new Map<string, Possible<W, R>>();

  sent(key: string, write: W): void {
    const possible = this.things.get(key) ?? { acknowledged: null, unknown: [] };
    possible.unknown.push(write);
    this.things.set(key, possible);
  }

  acknowledged(key: string, write: W, answer: R): void {
    this.things.set(key, { acknowledged: { write, answer }, unknown: [] });
  }

  /**
   * The write that is stored, by its revision; undefined when it is none of those that may be. Its answer is null when
   * it was not acknowledged, or when a retry of it may have been stored over it.
   */
  writeOf(key: string, revision: number): { write: W; answer: R | null } | undefined {
    const { acknowledged = null, unknown = [] } = this.things.get(key) ?? {};
    const write = unknown.find(({ attributes }) => attributes.rev === revision);
    if (write !== undefined) return { write, answer: null };
    return acknowledged?.write.attributes.rev === revision ? acknowledged : undefined;
  }

  *acknowledgedKeys(): Iterable<string> {
    for (const [key, { acknowledged }] of this.things) if (acknowledged !== null) yield key;
  }
}

export const spanKey = (span: { readonly trace_id: string; readonly id: string }) => `${span.trace_id}/${span.id}`;

/** Everything clients sent and were told, over all lives of the server. */
export class Ledger {
  readonly spans = new Book<SpanWrite, SpanRead>();
  readonly traces = new Book<TraceWrite, TraceRead>();
  readonly sessions = new Book<SessionWrite, SessionRead>();
  #revision = 0;

  revision(): number {
    this.#revision += 1;
    return this.#revision;
  }

  sentSpans(spans: readonly SpanWrite[]): void {
    for (const span of spans) this.spans.sent(spanKey(span), span);
  }

  acknowledgedSpans(spans: readonly SpanWrite[], answers: readonly SpanRead[]): void {
    spans.forEach((span, index) => {
      this.spans.acknowledged(spanKey(span), span, answers[index] as SpanRead);
    });
  }

  /** Whatever was written of these traces is to be gone. */
  forget(traces: ReadonlySet<string>): void {
    for (const key of this.spans.things.keys())
      if (traces.has(key.slice(0, key.indexOf('/')))) this.spans.things.delete(key);
  }
}
