import type { SentSession, SentSpan, SentTags, SentTrace } from './sent.js';

/*
 * What the store must answer, by the rules of the interface and nothing else: every figure is counted anew from the
 * last writes. Money is counted in whole 1e-12 dollars, time in whole microseconds.
 */

/** When something was taken in: exactly (`low` = `high`), or within the time that a request took. Microseconds. */
export interface Moment {
  readonly low: number;
  readonly high: number;
}

/** An acknowledged write. Their order is that of the array that holds them. */
export type Write =
  | { readonly kind: 'span'; readonly at: Moment; readonly sent: SentSpan }
  | { readonly kind: 'trace'; readonly at: Moment; readonly sent: SentTrace }
  | { readonly kind: 'session'; readonly at: Moment; readonly sent: SentSession }
  | { readonly kind: 'delete'; readonly what: 'span' | 'trace' | 'session'; readonly id: string };

/** A listed object as it is compared: costs as decimal texts, so that nothing is lost to floating point. */
export type Read = Readonly<Record<string, unknown>>;

export interface Expected {
  /** Usually one; several where the rules leave a choice (root spans that start at the same moment). */
  readonly variants: readonly Read[];
  readonly created: Moment;
}

export interface Recount {
  readonly spans: ReadonlyMap<string, Expected>;
  readonly traces: ReadonlyMap<string, Expected>;
  readonly sessions: ReadonlyMap<string, Expected>;
}

/** A span as stored. */
interface Span {
  readonly id: string;
  readonly trace: string;
  readonly parent: string | null;
  readonly session: string | null;
  readonly sessionName: string | null;
  readonly name: string;
  readonly status: string | null;
  readonly start: number;
  readonly end: number | null;
  readonly cost: bigint | null;
  readonly input: string | null;
  readonly output: string | null;
  readonly traceTags: Tags;
  readonly sessionTags: Tags;
  readonly hasError: boolean;
  readonly read: Read;
}

type Tags = Readonly<Record<string, string>>;

/** What a trace's statement and spans come to. */
interface Figures {
  readonly session: string | null;
  readonly stated: SentTrace | undefined;
  readonly spans: readonly Span[];
  readonly start: number;
  readonly end: number | null;
  readonly duration: number | null;
  readonly cost: bigint | null;
  readonly errors: number;
}

interface Current<T> {
  readonly value: T;
  readonly at: Moment;
  /** Place in the order of writes. */
  readonly order: number;
}

/** US dollars per 1,000,000 tokens of the models that histories call. */
const PRICES: Readonly<Record<string, { readonly input: number; readonly output: number }>> = {
  'openai/gpt-4o': { input: 2.5, output: 10 },
};
const PRICED_KINDS = new Set(['llm', 'embedding', 'reranker']);

export function spanKey(span: { readonly trace_id: unknown; readonly id: unknown }): string {
  return `${String(span.trace_id).toLowerCase()}/${String(span.id).toLowerCase()}`;
}

/** Plays acknowledged writes and recounts everything on demand. */
export class Model {
  readonly #projectId: string;
  readonly #spans = new Map<string, Current<Span>>();
  readonly #traces = new Map<string, Current<SentTrace>>();
  readonly #sessions = new Map<string, Current<SentSession>>();
  /** When each trace and session was first written: what came later or was deleted does not change it. */
  readonly #firstTrace = new Map<string, Moment>();
  readonly #firstSession = new Map<string, Moment>();
  #order = 0;

  constructor(projectId: string) {
    this.#projectId = projectId;
  }

  apply(write: Write): void {
    this.#order += 1;
    const order = this.#order;
    switch (write.kind) {
      case 'span': {
        const value = storedSpan(write.sent, this.#projectId);
        this.#spans.set(spanKey(write.sent), { value, at: write.at, order });
        earliest(this.#firstTrace, value.trace, write.at);
        if (value.session !== null) earliest(this.#firstSession, value.session, write.at);
        break;
      }
      case 'trace': {
        const id = write.sent.id.toLowerCase();
        this.#traces.set(id, { value: write.sent, at: write.at, order });
        earliest(this.#firstTrace, id, write.at);
        earliest(this.#firstSession, write.sent.session_id.toLowerCase(), write.at);
        break;
      }
      case 'session': {
        const id = write.sent.id.toLowerCase();
        this.#sessions.set(id, { value: write.sent, at: write.at, order });
        earliest(this.#firstSession, id, write.at);
        break;
      }
      case 'delete':
        this.#delete(write.what, write.id.toLowerCase());
    }
  }

  /** Whether there is such a thing to delete. */
  has(what: 'span' | 'trace' | 'session', id: string): boolean {
    const wanted = id.toLowerCase();
    if (what === 'session') return this.#sessionIds().has(wanted);
    if (what === 'trace') return this.#traceIds().has(wanted);
    return [...this.#spans.values()].some(({ value }) => value.id === wanted);
  }

  /** A trace that was posted: its statement overrides figures. */
  isStated(traceId: string): boolean {
    return this.#traces.has(traceId);
  }

  recount(): Recount {
    const spans = new Map<string, Expected>();
    for (const [key, { value, at }] of this.#spans) spans.set(key, { variants: [value.read], created: at });
    const figures = new Map([...this.#traceIds()].map((id) => [id, this.#figures(id)]));
    const traces = new Map<string, Expected>();
    for (const [id, trace] of figures)
      traces.set(id, { variants: this.#traceReads(id, trace), created: known(this.#firstTrace.get(id)) });
    const sessions = new Map<string, Expected>();
    for (const id of this.#sessionIds())
      sessions.set(id, {
        variants: [this.#sessionRead(id, [...figures.values()])],
        created: known(this.#firstSession.get(id)),
      });
    return { spans, traces, sessions };
  }

  /** Removes it and all below it. */
  #delete(what: 'span' | 'trace' | 'session', id: string): void {
    if (what === 'session') {
      for (const trace of this.#traceIds()) if (this.#sessionOf(trace) === id) this.#delete('trace', trace);
      for (const [key, { value }] of this.#spans) if (value.session === id) this.#spans.delete(key);
      this.#sessions.delete(id);
      return;
    }
    for (const [key, { value }] of this.#spans)
      if ((what === 'trace' ? value.trace : value.id) === id) this.#spans.delete(key);
    if (what === 'trace') this.#traces.delete(id);
  }

  /** A trace is there while a span of it is, or a statement about it. */
  #traceIds(): Set<string> {
    return new Set([...this.#traces.keys(), ...[...this.#spans.values()].map(({ value }) => value.trace)]);
  }

  /** A session that anything names exists. */
  #sessionIds(): Set<string> {
    const ids = new Set(this.#sessions.keys());
    for (const { value } of this.#traces.values()) ids.add(value.session_id.toLowerCase());
    for (const { value } of this.#spans.values()) if (value.session !== null) ids.add(value.session);
    return ids;
  }

  /** In the order in which they were last written. */
  #spansOf(traceId: string): Span[] {
    return [...this.#spans.values()]
      .filter(({ value }) => value.trace === traceId)
      .sort((a, b) => a.order - b.order)
      .map(({ value }) => value);
  }

  /** The one named by the statement, else by the latest written span that names one. */
  #sessionOf(traceId: string): string | null {
    const stated = this.#traces.get(traceId)?.value.session_id.toLowerCase();
    return stated ?? this.#spansOf(traceId).findLast(({ session }) => session !== null)?.session ?? null;
  }

  #figures(id: string): Figures {
    const stated = this.#traces.get(id)?.value;
    const spans = this.#spansOf(id);
    const ends = spans.flatMap(({ end }) => end ?? []);
    const start = stated ? micros(stated.started_at) : Math.min(...spans.map((span) => span.start));
    const end = stated?.ended_at != null ? micros(stated.ended_at) : ends.length > 0 ? Math.max(...ends) : null;
    const costs = spans.flatMap(({ cost }) => cost ?? []);
    // A stated start may lie after the end of the last span; nothing lasts less than no time.
    const derivedDuration = end === null ? null : Math.max(0, end - start) / 1000;
    return {
      session: this.#sessionOf(id),
      stated,
      spans,
      start,
      end,
      duration: stated?.duration_ms ?? derivedDuration,
      cost: stated?.cost != null ? picodollars(stated.cost) : sum(costs),
      errors: spans.filter(({ hasError }) => hasError).length,
    };
  }

  #traceReads(id: string, trace: Figures): Read[] {
    const { stated, spans } = trace;
    const derived = trace.errors > 0 ? 'error' : spans.some(({ status }) => status === 'ok') ? 'ok' : 'unset';
    const status = stated?.status ?? derived;
    const roots = earliestOf(spans.filter(({ parent }) => parent === null));
    const named = roots.length > 0 ? roots : earliestOf(spans);
    const choices = stated && roots.length === 0 ? [undefined] : named;
    return choices.map((span) => ({
      id,
      session_id: trace.session,
      project_id: this.#projectId,
      name: stated?.name ?? span?.name,
      status,
      started_at: iso(trace.start),
      ended_at: trace.end === null ? null : iso(trace.end),
      duration_ms: trace.duration,
      cost: money(trace.cost),
      span_count: spans.length,
      error_count: trace.errors,
      root_span_input: roots.length > 0 ? (span?.input ?? null) : null,
      root_span_output: roots.length > 0 ? (span?.output ?? null) : null,
      tags: Object.assign({}, ...spans.map(({ traceTags }) => traceTags), tagsOf(stated?.tags)) as Tags,
      attributes: stated?.attributes ?? {},
      has_error: status === 'error',
    }));
  }

  #sessionRead(id: string, all: readonly Figures[]): Read {
    const stated = this.#sessions.get(id)?.value;
    const traces = all.filter(({ session }) => session === id);
    const writers = [...this.#spans.values()]
      .sort((a, b) => a.order - b.order)
      .map(({ value }) => value)
      .filter(({ session, trace }) => (session ?? this.#sessionOf(trace)) === id);
    const durations = traces.flatMap(({ duration }) => duration ?? []);
    const ends = traces.flatMap(({ end }) => end ?? []);
    const errors = traces.reduce((count, trace) => count + trace.errors, 0);
    return {
      id,
      project_id: this.#projectId,
      name: stated?.name || (writers.findLast(({ sessionName }) => sessionName !== null)?.sessionName ?? null),
      trace_count: traces.length,
      error_count: errors,
      cost: money(sum(traces.flatMap(({ cost }) => cost ?? []))),
      duration: durations.length === 0 ? null : total(durations),
      started_at: traces.length === 0 ? null : iso(Math.min(...traces.map(({ start }) => start))),
      ended_at: ends.length === 0 ? null : iso(Math.max(...ends)),
      tags: Object.assign({}, ...writers.map(({ sessionTags }) => sessionTags), tagsOf(stated?.tags)) as Tags,
      attributes: stated?.attributes ?? {},
      has_error: errors > 0,
    };
  }
}

/** A span with every default applied. */
function storedSpan(sent: SentSpan, projectId: string): Span {
  const start = micros(sent.started_at);
  const end = sent.ended_at == null ? null : micros(sent.ended_at);
  const kind = sent.kind ?? 'generic';
  const cost = sent.cost != null ? picodollars(sent.cost) : priceOf(kind, sent.attributes ?? {});
  const session = (sent.session_id ?? sent.session?.id)?.toLowerCase() ?? null;
  const sessionName = sent.session?.name || sent.session_name || null;
  const sessionTags = { ...tagsOf(sent.session?.tags), ...tagsOf(sent.session_tags) };
  const hasError = sent.status === 'error' || Boolean(sent.error_code) || Boolean(sent.error_message);
  const read = {
    id: sent.id.toLowerCase(),
    trace_id: sent.trace_id.toLowerCase(),
    parent_span_id: sent.parent_span_id?.toLowerCase() ?? null,
    session_id: session,
    session_name: sessionName,
    project_id: projectId,
    name: sent.name,
    kind,
    status: sent.status ?? null,
    started_at: iso(start),
    ended_at: end === null ? null : iso(end),
    duration_ms: sent.duration_ms ?? (end === null ? null : (end - start) / 1000),
    cost: money(cost),
    input_data: payload(sent.input_data),
    output_data: payload(sent.output_data),
    attributes: sent.attributes ?? {},
    tags: tagsOf(sent.tags),
    trace_tags: tagsOf(sent.trace_tags),
    session_tags: sessionTags,
    error_code: sent.error_code ?? null,
    error_message: sent.error_message ?? null,
    error_stack: sent.error_stack ?? null,
    code_filepath: sent.code_filepath ?? null,
    code_lineno: sent.code_lineno ?? null,
    has_error: hasError,
  };
  return {
    id: read.id,
    trace: read.trace_id,
    parent: read.parent_span_id,
    session,
    sessionName,
    name: read.name,
    status: read.status,
    start,
    end,
    cost,
    input: read.input_data,
    output: read.output_data,
    traceTags: read.trace_tags,
    sessionTags,
    hasError,
    read,
  };
}

/** What `POST /spans` answers for a span, but for `created_at`. */
export function spanRead(sent: SentSpan, projectId: string): Read {
  return storedSpan(sent, projectId).read;
}

/** `(inputTokens × inputPrice + outputTokens × outputPrice) / 1,000,000`; null for what has no known price. */
function priceOf(kind: string, attributes: Readonly<Record<string, unknown>>): bigint | null {
  const { provider, model, inputTokens, outputTokens } = attributes;
  const price = PRICES[`${String(provider)}/${String(model)}`];
  if (!PRICED_KINDS.has(kind) || !price || inputTokens === undefined || outputTokens === undefined) return null;
  // Both prices are whole microdollars per token times 1e-1, so this stays exact.
  const tenthsOfMicros = Number(inputTokens) * price.input * 10 + Number(outputTokens) * price.output * 10;
  return BigInt(tenthsOfMicros) * 100_000n;
}

function earliest(firsts: Map<string, Moment>, id: string, at: Moment): void {
  const known = firsts.get(id) ?? at;
  firsts.set(id, { low: Math.min(known.low, at.low), high: Math.min(known.high, at.high) });
}

function known(moment: Moment | undefined): Moment {
  if (!moment) throw new Error('the model lost a first write');
  return moment;
}

/** All that share the earliest start. */
function earliestOf(spans: readonly Span[]): Span[] {
  const first = Math.min(...spans.map(({ start }) => start));
  return spans.filter(({ start }) => start === first);
}

function sum(amounts: readonly bigint[]): bigint | null {
  return amounts.length === 0 ? null : amounts.reduce((total, amount) => total + amount, 0n);
}

/** Milliseconds, summed in whole nanoseconds. */
function total(durations: readonly number[]): number {
  const nanos = durations.reduce((all, duration) => all + decimal(duration, 6), 0n);
  return Number(nanos) / 1e6;
}

function picodollars(cost: number): bigint {
  return decimal(cost, 12);
}

/** Money as a decimal text without trailing zeros. */
export function money(amount: bigint | null): string | null {
  if (amount === null) return null;
  const digits = String(amount).padStart(13, '0');
  return `${digits.slice(0, -12)}.${digits.slice(-12)}`.replace(/\.?0+$/, '');
}

/** A number as it is written in JSON, in whole units of 10^-places; histories send no finer ones. */
export function decimal(value: number | string, places: number): bigint {
  const match = /^(\d+)(?:\.(\d+))?(?:e([+-]\d+))?$/i.exec(String(value));
  if (!match) throw new Error(`not a decimal number: ${value}`);
  const [, whole = '', fraction = '', exponent = '0'] = match;
  const shift = places + Number(exponent) - fraction.length;
  const digits = BigInt(whole + fraction);
  if (shift >= 0) return digits * 10n ** BigInt(shift);
  if (digits % 10n ** BigInt(-shift) !== 0n) throw new Error(`finer than 10^-${places}: ${value}`);
  return digits / 10n ** BigInt(-shift);
}

function tagsOf(tags: SentTags | null | undefined): Tags {
  const kept = Object.entries(tags ?? {}).filter(([, value]) => value !== null);
  return Object.fromEntries(kept.map(([key, value]) => [key, String(value)]));
}

function payload(value: unknown): string | null {
  if (value == null) return null;
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** Histories write their times as `iso` does. */
export function micros(text: string): number {
  return Date.parse(`${text.slice(0, 19)}Z`) * 1000 + Number(text.slice(20, 26));
}

export function iso(micros: number): string {
  const seconds = Math.floor(micros / 1e6);
  return `${new Date(seconds * 1000).toISOString().slice(0, 19)}.${String(micros - seconds * 1e6).padStart(6, '0')}Z`;
}
