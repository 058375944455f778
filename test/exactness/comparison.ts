import { isDeepStrictEqual } from 'node:util';
import type { Expected } from './model.js';
import type { Read } from './stored-span.js';
import { decimal, money } from './units.js';

/** JSON numbers hold some seventeen digits; a sum of a billion runs of a clock shows the last one or not. */
const ULPS = 4e-16;

export function agreeWithSpans(trace: Read, spans: readonly Read[], stated: boolean): void {
  const errors = spans.filter((span) => span['has_error']).length;
  const counts = { span_count: spans.length, error_count: errors };
  const ends = spans.map((span) => span['ended_at']).filter((end) => end !== null);
  const derived = {
    started_at: spans.map((span) => String(span['started_at'])).sort()[0],
    ended_at: ends.map(String).sort().at(-1) ?? null,
    cost: sumOfCosts(spans),
    status: errors > 0 ? 'error' : spans.some((span) => span['status'] === 'ok') ? 'ok' : 'unset',
  };
  const expected = stated ? counts : { ...counts, ...derived };
  const actual = Object.fromEntries(Object.keys(expected).map((name) => [name, trace[name]]));
  expectSame(`figures of trace ${String(trace['id'])} against its spans`, actual, expected);
}

export function agreeWithTraces(session: Read, traces: readonly Read[]): void {
  const durations = traces.map((trace) => trace['duration_ms']).filter((duration) => duration !== null);
  const expected = {
    trace_count: traces.length,
    error_count: traces.reduce((count, trace) => count + Number(trace['error_count']), 0),
    cost: sumOfCosts(traces),
    duration: durations.length === 0 ? null : durations.reduce<number>((sum, duration) => sum + Number(duration), 0),
  };
  const actual = Object.fromEntries(Object.keys(expected).map((name) => [name, session[name]]));
  // Here milliseconds are summed as floating-point numbers, like a reader of the lists would.
  if (!same(actual, expected, 1e-9))
    throw new Error(`session ${String(session['id'])} against its traces: ${differences(expected, actual)}`);
}

function sumOfCosts(rows: readonly Read[]): string | null {
  const costs = rows.flatMap((row) => (row['cost'] === null ? [] : decimal(row['cost'] as string, 12)));
  return money(costs.length === 0 ? null : costs.reduce((sum, cost) => sum + cost, 0n));
}

export function ids(spans: readonly Read[]): string[] {
  return spans.map((span) => String(span['id'])).sort();
}

/** Parsed objects whose costs are decimal texts with every digit that was answered. */
export function parse(text: string): Read[] {
  const objects = JSON.parse(text.replace(/"cost":([-+.\deE]+)/g, '"cost":"$1"')) as Record<string, unknown>[];
  return objects.map((object) =>
    typeof object['cost'] === 'string' ? { ...object, cost: money(decimal(object['cost'], 12)) } : object,
  );
}

export function same(expected: unknown, actual: unknown, tolerance = ULPS): boolean {
  if (isDeepStrictEqual(expected, actual)) return true;
  if (!isRead(expected) || !isRead(actual)) return false;
  const names = new Set([...Object.keys(expected), ...Object.keys(actual)]);
  return [...names].every((name) => {
    const [wanted, got] = [expected[name], actual[name]];
    if (name !== 'duration' || typeof wanted !== 'number' || typeof got !== 'number')
      return isDeepStrictEqual(wanted, got);
    return Math.abs(wanted - got) <= tolerance * Math.abs(wanted);
  });
}

function isRead(value: unknown): value is Read {
  return typeof value === 'object' && value !== null;
}

/** What distinguishes a listed object from what a recount says of it; null: nothing does. */
export function differenceOf(expected: Expected | undefined, answer: Read | undefined): string | null {
  if (!expected || !answer) return expected ? 'is missing' : 'is too much';
  const { created_at, ...rest } = answer;
  const fitting = expected.variants.find((variant) => same(variant, rest)) ?? expected.variants[0];
  if (!same(fitting, rest)) return differences(fitting ?? {}, rest);
  const created = microsOf(created_at);
  const { low, high } = expected.created;
  if (created >= low && created <= high) return null;
  return `created_at ${String(created_at)} is ${created}, not within ${low} and ${high}`;
}

export function differences(expected: Read, actual: Read): string {
  return [...new Set([...Object.keys(expected), ...Object.keys(actual)])]
    .filter((name) => !same({ [name]: expected[name] }, { [name]: actual[name] }))
    .map((name) => `${name} must be ${JSON.stringify(expected[name])}, was ${JSON.stringify(actual[name])}`)
    .join('; ');
}

export function expectSame(what: string, actual: unknown, expected: unknown): void {
  if (isDeepStrictEqual(actual, expected)) return;
  if (isRead(actual) && isRead(expected)) throw new Error(`${what}: ${differences(expected, actual)}`);
  throw new Error(`${what}: must be ${JSON.stringify(expected)}, was ${JSON.stringify(actual)}`);
}

export function microsOf(text: unknown): number {
  const match = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)\.(\d{6})Z$/.exec(String(text));
  if (!match) throw new Error(`not a time with microseconds: ${String(text)}`);
  return Date.parse(`${match[1]}Z`) * 1000 + Number(match[2]);
}
