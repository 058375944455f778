import { isDeepStrictEqual } from 'node:util';
import type { Read, StoredSpan } from './stored-span.js';
import { money, sum } from './units.js';

/* Figures of experiments as they must be: of each row and repetition, the span that was written last is its result. */

/** What a span says of its experiment, in the ways in which histories do. */
export interface Mark {
  readonly experiment: string;
  readonly result: string;
  readonly row: unknown;
  readonly madeIn: unknown;
}

export function markOf({ attributes, trace_id }: Read): Mark | null {
  const said = attributes as Read;
  const nested = (said['spanhouse'] as { experiment: Read } | undefined)?.experiment;
  const id = nested?.['id'] ?? said['spanhouse.experiment.id'];
  if (typeof id !== 'string' || id === 'malformed') return null;
  const row = nested?.['row_id'] ?? said['spanhouse.experiment.row_id'];
  const repetition = (said['spanhouse.experiment.repetition'] as number | undefined) ?? 1;
  return {
    experiment: id,
    row,
    result: `${String(row)} ${String(repetition)}`,
    madeIn: nested?.['trace_id'] ?? trace_id,
  };
}

/** The newest score of each name of a span, or of its trace; null: the trace's do not count. */
type ScoresOf = (span: string, trace: string | null) => Read;

/** What a trace, or a span, took. */
export interface Taken {
  readonly cost: bigint | null;
  readonly duration: number | null;
  readonly inputTokens: number | null;
  readonly outputTokens: number | null;
}

/** @param spans all that there are, in the order in which they were written last */
export function experimentFigures(
  experiment: string,
  spans: readonly StoredSpan[],
  traceOf: (id: string) => Taken | undefined,
  scoresOf: ScoresOf,
): Read {
  const results = new Map<string, { readonly span: StoredSpan } & Mark>();
  const resultsIn = new Map<unknown, Set<string>>();
  for (const span of spans) {
    const mark = markOf(span.read);
    if (mark?.experiment !== experiment) continue;
    results.set(mark.result, { span, ...mark });
    resultsIn.set(mark.madeIn, (resultsIn.get(mark.madeIn) ?? new Set()).add(mark.result));
  }
  const all = [...results.values()];
  const isShared = (trace: unknown) => (resultsIn.get(trace)?.size ?? 0) > 1;
  const taken = all.flatMap(({ span, madeIn }): Taken[] => {
    if (isShared(madeIn)) return [{ ...span, duration: span.read['duration_ms'] as number | null }];
    return [traceOf(String(madeIn)) ?? []].flat();
  });
  const cost = money(sum(taken.flatMap(({ cost: known }) => known ?? [])));
  const durations = taken.flatMap(({ duration }) => duration ?? []).sort((a, b) => a - b);
  return {
    results: all.length,
    rows: new Set(all.map(({ row }) => row)).size,
    errors: all.filter(({ span }) => span.hasError).length,
    cost: cost === null ? null : Number(cost),
    input_tokens: total(taken.map(({ inputTokens }) => inputTokens)),
    output_tokens: total(taken.map(({ outputTokens }) => outputTokens)),
    duration_ms_p50: durations[Math.floor(durations.length * 0.5)] ?? null,
    duration_ms_p95: durations[Math.floor(durations.length * 0.95)] ?? null,
    scores: scoreFigures(all.map(({ span, madeIn }) => scoresOf(span.id, isShared(madeIn) ? null : String(madeIn)))),
  };
}

function scoreFigures(of: readonly Read[]): Read[] {
  const names = [...new Set(of.flatMap((scores) => Object.keys(scores)))].sort();
  return names.map((name) => {
    const given = of.flatMap((scores) => (name in scores ? [scores[name]] : []));
    const kind = { number: 'numeric', boolean: 'boolean' }[typeof given[0] as string] ?? 'categorical';
    const numbers = given.flatMap((value) => (typeof value === 'string' ? [] : [Number(value)]));
    const mean = numbers.length === 0 ? null : numbers.reduce((all, one) => all + one, 0) / numbers.length;
    return { name, kind, count: given.length, mean };
  });
}

function total(counts: readonly (number | null)[]): number | null {
  const known = counts.filter((count) => count !== null);
  return known.length === 0 ? null : known.reduce((all, count) => all + count, 0);
}

/** What distinguishes figures that were answered from those that must be; null: nothing does. */
export function figuresProblem(expected: Read, { first_at, last_at, ...answered }: Read): string | null {
  const near = (value: unknown) => JSON.parse(JSON.stringify(value, rounded)) as unknown;
  if ((first_at === null) !== (expected['results'] === 0) || String(first_at) > String(last_at))
    return `first_at and last_at are ${String(first_at)} and ${String(last_at)}`;
  if (isDeepStrictEqual(near(answered), near(expected))) return null;
  return `figures must be ${JSON.stringify(expected)}, were ${JSON.stringify(answered)}`;
}

/** Means of numbers are summed in another order. */
const rounded = (name: string, value: unknown) =>
  name === 'mean' && typeof value === 'number' ? value.toFixed(12) : value;
