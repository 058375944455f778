import { isDeepStrictEqual } from 'node:util';
import type { SessionRead, SpanRead, TraceRead } from '../../src/engine/traces/model/list/fields.js';
import { spanKey, type Book, type Ledger, type SpanWrite, type TraceWrite, type Written } from './ledger.js';
import type { Program } from '../harness/program.js';

/** Every row of a list, page by page. Nothing may be written meanwhile. */
async function all<T>(program: Program, list: string, page: number): Promise<T[]> {
  const rows: T[] = [];
  for (;;) {
    const { status, json } = await program.request(
      'GET',
      `/${list}?limit=${page}&offset=${rows.length}&sort_order=asc`,
    );
    if (status !== 200) throw new Error(`GET /${list} answers ${status}: ${JSON.stringify(json)}`);
    rows.push(...(json as T[]));
    if ((json as T[]).length < page) return rows;
  }
}

/** Compares all that the server lists with what it acknowledged, and its figures with a recount. Answers what is wrong. */
export async function audit(program: Program, ledger: Ledger): Promise<string[]> {
  const spans = await all<SpanRead>(program, 'spans', 10_000);
  const traces = await all<TraceRead>(program, 'traces', 500);
  const sessions = await all<SessionRead>(program, 'sessions', 500);
  return [
    ...auditSpans(spans, ledger),
    ...auditTraces(traces, spans, ledger),
    ...auditSessions(sessions, traces, spans, ledger),
  ];
}

/** Every acknowledged span once, with its last acknowledged content or a later one whose fate nobody was told. */
export function auditSpans(
  spans: readonly SpanRead[],
  ledger: Ledger,
  keys = ledger.spans.acknowledgedKeys(),
): string[] {
  const wrong: string[] = [];
  const listed = new Set<string>();
  for (const span of spans) {
    const key = spanKey(span);
    if (listed.has(key)) wrong.push(`span ${key} is listed twice`);
    listed.add(key);
    const found = ledger.spans.writeOf(key, Number(span.attributes['rev']));
    if (found === undefined)
      wrong.push(`span ${key} holds revision ${String(span.attributes['rev'])}, which it cannot`);
    else if (found.answer !== null) wrong.push(...differences(`span ${key}`, found.answer, span));
    else wrong.push(...differences(`span ${key}`, contentOf(found.write), contentOf(span)));
  }
  for (const key of keys) if (!listed.has(key)) wrong.push(`span ${key} was acknowledged and is not there`);
  return wrong;
}

function contentOf(span: SpanWrite | SpanRead) {
  const { name, status, cost, error_message, input_data, parent_span_id, session_id, trace_tags, attributes } = span;
  const times = {
    started_at: micros(span.started_at),
    ended_at: span.ended_at === null ? null : micros(span.ended_at),
  };
  return {
    name,
    status,
    cost,
    error_message,
    input_data,
    parent_span_id,
    session_id,
    trace_tags,
    attributes,
    ...times,
  };
}

export function auditTraces(
  traces: readonly TraceRead[],
  spans: readonly SpanRead[],
  ledger: Ledger,
  posted = ledger.traces.acknowledgedKeys(),
): string[] {
  const wrong: string[] = [];
  const byTrace = grouped(spans, ({ trace_id }) => trace_id);
  const listed = new Set<string>();
  for (const trace of traces) {
    if (listed.has(trace.id)) wrong.push(`trace ${trace.id} is listed twice`);
    listed.add(trace.id);
    const { post, complaint } = lastPost(`trace ${trace.id}`, trace, ledger.traces);
    if (complaint !== null) wrong.push(complaint);
    else {
      const expected = traceOf(byTrace.get(trace.id) ?? [], post);
      wrong.push(...differences(`trace ${trace.id}`, expected, pick(trace, expected)));
    }
  }
  for (const id of new Set([...byTrace.keys(), ...posted])) if (!listed.has(id)) wrong.push(`trace ${id} is missing`);
  return wrong;
}

/** What a trace or session holds of what was posted, null where nothing was, and what is wrong with that. */
function lastPost<W extends Written>(
  what: string,
  { id, attributes }: TraceRead | SessionRead,
  book: Book<W, unknown>,
): { post: W | null; complaint: string | null } {
  const revision = attributes['rev'] as number | undefined;
  if (revision === undefined) {
    const lost = book.things.get(id)?.acknowledged;
    return { post: null, complaint: lost ? `${what} has lost what was posted` : null };
  }
  const post = book.writeOf(id, revision)?.write;
  return post === undefined
    ? { post: null, complaint: `${what} holds revision ${revision}, which it cannot` }
    : { post, complaint: null };
}

/** A trace's figures, counted from its spans and from what was posted about it. */
function traceOf(spans: readonly SpanRead[], post: TraceWrite | null) {
  const oldest = [...spans].sort((a, b) => compare(a.started_at, b.started_at) || compare(a.id, b.id));
  const root = oldest.find(({ parent_span_id }) => parent_span_id === null);
  const written = [...spans].sort((a, b) => compare(a.created_at, b.created_at));
  const start = post === null ? micros(oldest[0]?.started_at ?? '') : micros(post.started_at);
  const end = spans.reduce<number | null>((latest, { ended_at }) => later(latest, ended_at), null);
  const last = written.at(-1)?.trace_tags['last'];
  const failed = spans.filter(({ has_error }) => has_error).length;
  return {
    name: post?.name ?? (root ?? oldest[0])?.name,
    session_id: post?.session_id ?? written.findLast(({ session_id }) => session_id !== null)?.session_id ?? null,
    span_count: spans.length,
    error_count: failed,
    has_error: failed > 0,
    status: failed > 0 ? 'error' : spans.some(({ status }) => status === 'ok') ? 'ok' : 'unset',
    cost: sum(
      spans.map(({ cost }) => cost),
      1e6,
    ),
    started_at: start,
    ended_at: end,
    duration_ms: end === null ? null : Math.max(0, end - start) / 1000,
    root_span_input: root?.input_data ?? null,
    tags: last === undefined ? {} : { last },
  };
}

export function auditSessions(
  sessions: readonly SessionRead[],
  traces: readonly TraceRead[],
  spans: readonly SpanRead[],
  ledger: Ledger,
): string[] {
  const wrong: string[] = [];
  const bySession = grouped(traces, ({ session_id }) => session_id);
  const listed = new Set<string>();
  for (const session of sessions) {
    if (listed.has(session.id)) wrong.push(`session ${session.id} is listed twice`);
    listed.add(session.id);
    const { post, complaint } = lastPost(`session ${session.id}`, session, ledger.sessions);
    if (complaint !== null) wrong.push(complaint);
    const expected = sessionOf(bySession.get(session.id) ?? [], post?.name ?? null);
    wrong.push(...differences(`session ${session.id}`, expected, pick(session, expected)));
  }
  const named = [...traces, ...spans].flatMap(({ session_id }) => session_id ?? []);
  for (const id of new Set([...named, ...ledger.sessions.acknowledgedKeys()]))
    if (!listed.has(id)) wrong.push(`session ${id} is missing`);
  return wrong;
}

function sessionOf(traces: readonly TraceRead[], name: string | null) {
  const errors = traces.reduce((count, { error_count }) => count + error_count, 0);
  const starts = traces.map(({ started_at }) => micros(started_at));
  return {
    name,
    trace_count: traces.length,
    error_count: errors,
    has_error: errors > 0,
    cost: sum(
      traces.map(({ cost }) => cost),
      1e6,
    ),
    duration: sum(
      traces.map(({ duration_ms }) => duration_ms),
      1e3,
    ),
    started_at: starts.length === 0 ? null : Math.min(...starts),
    ended_at: traces.reduce<number | null>((latest, { ended_at }) => later(latest, ended_at), null),
  };
}

/** Costs here are whole millionths, durations whole thousandths: counted in those, a sum is exact. */
function sum(values: readonly (number | null)[], parts: number): number | null {
  const known = values.filter((value) => value !== null);
  return known.length === 0 ? null : known.reduce((total, value) => total + Math.round(value * parts), 0) / parts;
}

function later(latest: number | null, time: string | null): number | null {
  return time === null ? latest : Math.max(latest ?? 0, micros(time));
}

/** ISO 8601 with up to six decimals, as microseconds. */
export function micros(time: string): number {
  const [, seconds, fraction = ''] = /^([^.]+?)(?:\.(\d+))?Z$/.exec(time) ?? [];
  return Date.parse(`${seconds ?? ''}Z`) * 1000 + Number(fraction.padEnd(6, '0'));
}

function grouped<K, T>(rows: readonly T[], keyOf: (row: T) => K): Map<K, T[]> {
  const groups = new Map<K, T[]>();
  for (const row of rows) {
    const group = groups.get(keyOf(row));
    if (group === undefined) groups.set(keyOf(row), [row]);
    else group.push(row);
  }
  return groups;
}

const TIMES = new Set(['started_at', 'ended_at']);

/** The same fields of what the server answered, times as microseconds. */
function pick(answered: object, expected: object): Record<string, unknown> {
  const row = answered as Record<string, unknown>;
  return Object.fromEntries(
    Object.keys(expected).map((name) => {
      const value = row[name];
      return [name, TIMES.has(name) && typeof value === 'string' ? micros(value) : value];
    }),
  );
}

function differences(what: string, expected: object, actual: object): string[] {
  const wanted = expected as Record<string, unknown>;
  const found = actual as Record<string, unknown>;
  return Object.keys({ ...wanted, ...found })
    .filter((name) => !isDeepStrictEqual(wanted[name], found[name]))
    .map((name) => `${what}: ${name} is ${JSON.stringify(found[name])}, not ${JSON.stringify(wanted[name])}`);
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
