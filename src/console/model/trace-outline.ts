import type { OutlineRead } from '../../engine/traces/model/trace/outline-schema.js';
import { at, NO_PARENT, type TraceColumns } from './trace-tree.js';

/** Earlier starts than the parent's by less are within what clocks of one machine are wrong by. */
const SKEW_MS = 1;

/** The spans of a trace for its tree, and what the view says of each. */
export interface TraceOutline extends TraceColumns {
  /** Spans of the trace; the columns may have fewer. */
  readonly total: number;
  /** Milliseconds since 1970 that `start` counts from. */
  readonly zero: number;
  readonly name: readonly number[];
  readonly names: readonly string[];
  readonly kindOf: (span: number) => string;
  readonly modelOf: (span: number) => string | null;
  readonly hasError: (span: number) => boolean;
  readonly cost: readonly (number | null)[];
  /** Input and output tokens together; null: not known. */
  readonly tokens: (span: number) => number | null;
  /** Judges that passed and failed it, thumbs up and down. */
  readonly said: ReadonlyMap<number, Said>;
  /** The parent that is not stored, of spans that name one. */
  readonly missing: ReadonlyMap<number, string>;
  /** Milliseconds by which a span starts before its parent, where clocks must be wrong. */
  readonly skew: ReadonlyMap<number, number>;
}

export interface Said {
  passed: number;
  failed: number;
  up: number;
  down: number;
}

export function traceOutline(answer: OutlineRead): TraceOutline {
  const { spans, names, kinds, models, missing_parents, cycles, calls } = answer;
  const parent = Int32Array.from(spans.parent);
  // The tree finds and names them itself, and so it does in a trace of which only a part came.
  for (const span of missing_parents.span) parent[span] = NO_PARENT - 1;
  for (const [first, second] of cycles) if (first !== undefined) parent[first] = second ?? first;
  const start = Float64Array.from(spans.started_at, (micros) => micros / 1000);
  const { kind } = spans;
  const failed = new Set(answer.errors);
  const callOf = new Map(calls.span.map((span, place) => [span, place]));
  return {
    total: answer.total,
    zero: answer.start === null ? 0 : Date.parse(answer.start),
    id: spans.id,
    parent,
    start,
    duration: spans.duration_ms,
    name: spans.name,
    names,
    kindOf: (span) => kinds[at(kind, span)] ?? '',
    modelOf: (span) => models[calls.model[callOf.get(span) ?? -1] ?? -1] ?? null,
    hasError: (span) => failed.has(span),
    cost: spans.cost,
    tokens: (span) => {
      const call = callOf.get(span) ?? -1;
      const [input, output] = [calls.input_tokens[call] ?? null, calls.output_tokens[call] ?? null];
      return input === null && output === null ? null : (input ?? 0) + (output ?? 0);
    },
    said: saidOf(answer),
    missing: new Map(missing_parents.span.map((span, place) => [span, missing_parents.id[place] ?? ''])),
    skew: skewOf(parent, start),
  };
}

function saidOf({ evaluations, feedback }: OutlineRead): Map<number, Said> {
  const said = new Map<number, Said>();
  const of = (span: number): Said => {
    const known = said.get(span) ?? { passed: 0, failed: 0, up: 0, down: 0 };
    said.set(span, known);
    return known;
  };
  evaluations.span.forEach((span, place) => {
    of(span).passed += evaluations.passed[place] ?? 0;
    of(span).failed += evaluations.failed[place] ?? 0;
  });
  feedback.span.forEach((span, place) => {
    of(span).up += feedback.up[place] ?? 0;
    of(span).down += feedback.down[place] ?? 0;
  });
  return said;
}

function skewOf(parent: Int32Array, start: Float64Array): Map<number, number> {
  const skew = new Map<number, number>();
  parent.forEach((above, span) => {
    if (above < 0) return;
    const early = at(start, above) - at(start, span);
    if (early > SKEW_MS) skew.set(span, early);
  });
  return skew;
}

/** Sums over the spans that are shown; what no span knows is null. */
export interface OutlineFigures {
  readonly errors: number;
  readonly modelCalls: number;
  readonly running: number;
  readonly tokens: number | null;
  readonly cost: number | null;
}

export function figuresOf(outline: TraceOutline): OutlineFigures {
  const figures = { errors: 0, modelCalls: 0, running: 0, tokens: null as number | null, cost: null as number | null };
  for (let span = 0; span < outline.id.length; span += 1) {
    if (outline.hasError(span)) figures.errors += 1;
    if (isModelCall(outline, span)) figures.modelCalls += 1;
    if (outline.duration[span] === null) figures.running += 1;
    const [tokens, cost] = [outline.tokens(span), outline.cost[span] ?? null];
    if (tokens !== null) figures.tokens = (figures.tokens ?? 0) + tokens;
    if (cost !== null) figures.cost = (figures.cost ?? 0) + cost;
  }
  return figures;
}

export function isModelCall(outline: TraceOutline, span: number): boolean {
  return outline.kindOf(span) === 'llm' || outline.modelOf(span) !== null;
}

/** The name of a span by its id; undefined: it is not in the outline. */
export function nameOfSpan({ id, name, names }: TraceOutline, span: string): string | undefined {
  return names[name[id.indexOf(span)] ?? -1];
}
