import { experimentFigures } from './experiment-figures.js';
import { ScoreModel, type Scored } from './scores.js';
import type { SentScore, SentSession, SentSpan, SentTrace } from './sent.js';
import { spanKey, storedSpan, tagsOf, type Read, type StoredSpan, type Tags } from './stored-span.js';
import { iso, micros, money, picodollars, sum, total } from './units.js';

/*
 * What the store must answer, by the rules of the interface and nothing else: every figure is counted anew from the
 * last writes.
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
  | { readonly kind: 'score'; readonly at: Moment; readonly sent: SentScore }
  | Deletion;

export interface Deletion {
  readonly kind: 'delete';
  readonly what: 'span' | 'trace' | 'session';
  readonly id: string;
}

export interface Expected {
  /** Usually one; several where the rules leave a choice (root spans that start at the same moment). */
  readonly variants: readonly Read[];
  readonly created: Moment;
  /** By name. */
  readonly scores: Read;
}

export interface Recount {
  readonly spans: ReadonlyMap<string, Expected>;
  readonly traces: ReadonlyMap<string, Expected>;
  readonly sessions: ReadonlyMap<string, Expected>;
}

/** What a posted trace and its spans come to. */
interface Figures {
  readonly session: string | null;
  readonly stated: SentTrace | undefined;
  readonly spans: readonly StoredSpan[];
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

/** Plays acknowledged writes and recounts everything on demand. */
export class Model {
  readonly #projectId: string;
  readonly #spans = new Map<string, Current<StoredSpan>>();
  readonly #traces = new Map<string, Current<SentTrace>>();
  readonly #sessions = new Map<string, Current<SentSession>>();
  /** When each trace and session was first written: what came later or was deleted does not change it. */
  readonly #firstTrace = new Map<string, Moment>();
  readonly #firstSession = new Map<string, Moment>();
  /** Spans that were ever written, by their ids. */
  readonly #spansEver = new Set<string>();
  #scores = new ScoreModel();
  #order = 0;

  constructor(projectId: string) {
    this.#projectId = projectId;
  }

  /** Another one that has played the same. */
  copy(): Model {
    const copy = new Model(this.#projectId);
    for (const [key, span] of this.#spans) copy.#spans.set(key, span);
    for (const [id, trace] of this.#traces) copy.#traces.set(id, trace);
    for (const [id, session] of this.#sessions) copy.#sessions.set(id, session);
    for (const [id, at] of this.#firstTrace) copy.#firstTrace.set(id, at);
    for (const [id, at] of this.#firstSession) copy.#firstSession.set(id, at);
    for (const id of this.#spansEver) copy.#spansEver.add(id);
    copy.#scores = this.#scores.copy();
    copy.#order = this.#order;
    return copy;
  }

  apply(write: Write): void {
    this.#order += 1;
    const order = this.#order;
    switch (write.kind) {
      case 'span': {
        const value = storedSpan(write.sent, this.#projectId);
        this.#spans.set(spanKey(write.sent), { value, at: write.at, order });
        this.#spansEver.add(value.id);
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
      case 'score':
        this.#scores.give(write.sent, order);
        break;
      case 'delete': {
        const before = this.copy();
        this.#delete(write.what, write.id.toLowerCase());
        this.#scores.removeOrphans(
          (what, id) => before.has(what, id),
          (what, id) => this.has(what, id),
        );
      }
    }
  }

  /** A score that is there; of fewer, the last. */
  scoreAt(place: number): SentScore | undefined {
    return this.#scores.nth(place);
  }

  removeScore(score: SentScore): void {
    this.#scores.take(score);
  }

  /**
   * Whether it is known how long a score would stay. Scores of things that are gone may go with what is deleted near them, or not;
   * so may those of sessions that are only named, as a write may take the name away.
   */
  canScore({ entity_type: what, entity_id }: SentScore): boolean {
    const id = entity_id.toLowerCase();
    if (what === 'session') return this.#sessions.has(id);
    return this.has(what, id) || !(what === 'span' ? this.#spansEver : this.#firstTrace).has(id);
  }

  /** Whether there is such a thing to delete. */
  has(what: 'span' | 'trace' | 'session', id: string): boolean {
    const wanted = id.toLowerCase();
    if (what === 'session') return this.#sessionIds().has(wanted);
    if (what === 'trace') return this.#traceIds().has(wanted);
    return [...this.#spans.values()].some(({ value }) => value.id === wanted);
  }

  /** A trace that was posted: what was posted overrides figures. */
  isStated(traceId: string): boolean {
    return this.#traces.has(traceId);
  }

  recount(): Recount {
    const spans = new Map<string, Expected>();
    for (const [key, { value, at }] of this.#spans)
      spans.set(key, { variants: [value.read], created: at, scores: this.#scoresOf('span', value.id) });
    const figures = new Map([...this.#traceIds()].map((id) => [id, this.#figures(id)]));
    const traces = new Map<string, Expected>();
    for (const [id, trace] of figures)
      traces.set(id, {
        variants: this.#traceReads(id, trace),
        created: known(this.#firstTrace.get(id)),
        scores: this.#scoresOf('trace', id),
      });
    const sessions = new Map<string, Expected>();
    for (const id of this.#sessionIds())
      sessions.set(id, {
        variants: [this.#sessionRead(id, [...figures.values()])],
        created: known(this.#firstSession.get(id)),
        scores: this.#scoresOf('session', id),
      });
    return { spans, traces, sessions };
  }

  /** Figures of the results of an experiment. */
  figuresOf(experiment: string): Read {
    const spans = [...this.#spans.values()].sort((a, b) => a.order - b.order).map(({ value }) => value);
    const traces = this.#traceIds();
    const traceOf = (id: string) => {
      if (!traces.has(id)) return undefined;
      const { cost, duration, spans: within } = this.#figures(id);
      const tokens = (of: 'inputTokens' | 'outputTokens') => counted(within.map((span) => span[of]));
      return { cost, duration, inputTokens: tokens('inputTokens'), outputTokens: tokens('outputTokens') };
    };
    return experimentFigures(experiment, spans, traceOf, (span, trace) =>
      this.#scores.newest((of, scored) => scored === (of === 'span' ? span : of === 'trace' ? trace : null)),
    );
  }

  /** Of a thing, and of all in it. */
  #scoresOf(what: Scored, id: string): Read {
    const traces = new Set(
      what === 'session' ? [...this.#traceIds()].filter((trace) => this.#sessionOf(trace) === id) : [id],
    );
    const spans = new Set([...traces].flatMap((trace) => this.#spansOf(trace)).map((span) => span.id));
    return this.#scores.newest((of, scored) => {
      if (of === what) return scored === id;
      if (of === 'session' || what === 'span') return false;
      return (of === 'trace' ? traces : spans).has(scored);
    });
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

  /** A trace is there while a span of it is, or while it is posted. */
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
  #spansOf(traceId: string): StoredSpan[] {
    return [...this.#spans.values()]
      .filter(({ value }) => value.trace === traceId)
      .sort((a, b) => a.order - b.order)
      .map(({ value }) => value);
  }

  /** The one that was posted, else by the latest written span that names one. */
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
      root_span_error: roots.length > 0 ? (span?.error ?? null) : null,
      tags: Object.assign({}, ...spans.map(({ traceTags }) => traceTags), tagsOf(stated?.tags)) as Tags,
      attributes: stated?.attributes ?? {},
      has_error: status === 'error',
      input_tokens: counted(spans.map(({ inputTokens }) => inputTokens)),
      output_tokens: counted(spans.map(({ outputTokens }) => outputTokens)),
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
      input_tokens: counted(traces.flatMap(({ spans }) => spans.map(({ inputTokens }) => inputTokens))),
      output_tokens: counted(traces.flatMap(({ spans }) => spans.map(({ outputTokens }) => outputTokens))),
    };
  }
}

/** The sum of what is known; null: nothing is. */
function counted(counts: readonly (number | null)[]): number | null {
  const known = counts.filter((count) => count !== null);
  return known.length === 0 ? null : known.reduce((total, count) => total + count, 0);
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
function earliestOf(spans: readonly StoredSpan[]): StoredSpan[] {
  const first = Math.min(...spans.map(({ start }) => start));
  return spans.filter(({ start }) => start === first);
}
