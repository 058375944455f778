import { expect } from 'chai';
import type { Row } from '../harness/checked-api.js';
import { decimal, money } from '../exactness/units.js';

/* Statistics counted anew from the rows of the list, by what the documentation says of them. */

const LEVELS = { p50: 0.5, p95: 0.95, p99: 0.99 };

/** An answer whose costs are decimal texts with every digit that was answered. */
export function withExactCosts(text: string): any {
  return JSON.parse(
    text.replace(/"cost":(-?[\d.eE+-]+)/g, (_, cost: string) => `"cost":"${money(decimal(cost, 12))}"`),
  );
}

export type ValuesOf = (row: Row) => readonly unknown[];

/**
 * Fails unless statistics are what the rows of the list come to.
 * @param rows all that the list has with the same filters, with costs as texts
 * @param valuesOf the values of a row that it is grouped by; absent: not grouped
 */
export function expectRecounted(answer: any, rows: readonly Row[], valuesOf?: ValuesOf): void {
  const starts: string[] = answer.buckets.map(({ start }: Row) => start);
  expect(starts, 'buckets in order').to.deep.equal([...starts].sort());
  expectSeries('all', answer, rows, starts);
  if (valuesOf === undefined) {
    expect([answer.groups, answer.rest]).to.deep.equal([[], null]);
    return;
  }
  const largest = grouped(rows, valuesOf).slice(0, 8);
  expect(answer.groups.map(({ value }: Row) => value)).to.deep.equal(largest.map(({ value }) => value));
  largest.forEach(({ value, members }, index) => {
    const group = answer.groups[index];
    const started = members.flatMap(({ started_at }): string | [] => started_at ?? []);
    const last = started.sort().at(-1) ?? null;
    expect(group.last_started_at, `${String(value)}: last start`).to.equal(last);
    expectSeries(String(value), group, members, starts);
  });
  const shown = new Set(largest.map(({ value }) => value));
  const rest = rows.filter((row) => valuesOf(row).some((value) => !shown.has(value)));
  if (rest.length === 0) expect(answer.rest).to.equal(null);
  else expectSeries('rest', answer.rest, rest, starts);
}

/** The values of rows with what has them, the largest first. */
export function grouped(rows: readonly Row[], valuesOf: ValuesOf): { value: unknown; members: Row[] }[] {
  const found = new Map<unknown, Row[]>();
  for (const row of rows)
    for (const value of new Set(valuesOf(row))) found.set(value, [...(found.get(value) ?? []), row]);
  return [...found]
    .map(([value, members]) => ({ value, members }))
    .sort((a, b) => b.members.length - a.members.length || byText(a.value, b.value));
}

function byText(a: unknown, b: unknown): number {
  if (a === null || b === null) return a === null ? 1 : -1;
  return Buffer.compare(Buffer.from(JSON.stringify(a)), Buffer.from(JSON.stringify(b)));
}

function expectSeries(what: string, series: any, rows: readonly Row[], starts: readonly string[]): void {
  expectFigures(`${what}: totals`, series.totals, rows);
  expect(series.buckets.map(({ start }: Row) => start)).to.deep.equal(starts);
  series.buckets.forEach(({ start, ...figures }: Row, index: number) => {
    const next = starts[index + 1];
    const within = rows.filter(({ started_at: at }) => at !== null && at >= start && (next === undefined || at < next));
    expectFigures(`${what}: ${start}`, figures, within);
  });
}

function expectFigures(what: string, figures: Row, rows: readonly Row[]): void {
  const known = rows.flatMap(({ cost }) => (cost === null ? [] : decimal(cost, 12)));
  const durations = rows
    .flatMap(({ duration_ms, duration }): number | [] => duration_ms ?? duration ?? [])
    .sort((a, b) => a - b);
  expect({ ...figures, duration_ms: null }, what).to.deep.equal({
    ...('count' in figures && { count: rows.length }),
    ...('error_count' in figures && { error_count: rows.filter(({ has_error }) => has_error).length }),
    ...('cost' in figures && {
      cost: known.length === 0 && rows.length > 0 ? null : money(known.reduce((sum, cost) => sum + cost, 0n)),
    }),
    ...('tokens' in figures && { tokens: tokensOf(figures['tokens'], rows) }),
    duration_ms: null,
  });
  for (const [name, level] of Object.entries(LEVELS)) {
    if (!('duration_ms' in figures)) break;
    const expected = durations[Math.min(Math.floor(level * durations.length), durations.length - 1)] ?? null;
    const found = figures['duration_ms'][name];
    // Sums of durations of sessions end in any digit.
    if (expected === null || found === null) expect(found, `${what}: ${name}`).to.equal(expected);
    else expect(found, `${what}: ${name}`).to.be.closeTo(expected, Math.abs(expected) * 1e-12);
  }
}

function tokensOf(tokens: Row, rows: readonly Row[]): Row {
  const sums = Object.keys(tokens).map((name) => {
    const known = rows.flatMap((row): number | [] => row[`${name}_tokens`] ?? []);
    return [name, known.length === 0 && rows.length > 0 ? null : known.reduce((sum, count) => sum + count, 0)];
  });
  return Object.fromEntries(sums);
}
