import { setImmediate as nextTurn } from 'node:timers/promises';
import { DomainError } from '../../../errors.js';
import type { Lists } from '../list/lists.js';
import { inPortions } from '../../../work/portions.js';
import type { DeepReadonly } from '../../../schema/parts.js';
import { formatTimestamp, type Micros } from '../../../timestamp.js';
import { MAX_OUTLINED, type OutlineRead } from './outline-schema.js';

/** The spans of a trace by start, then id: one array per field. */
export interface SpanColumns {
  readonly id: readonly string[];
  readonly parent: readonly (string | null)[];
  readonly name: readonly string[];
  readonly kind: readonly string[];
  readonly status: readonly (string | null)[];
  readonly started_at: readonly Micros[];
  readonly duration_ms: readonly (number | null)[];
  readonly cost: readonly (number | null)[];
  readonly has_error: readonly number[];
  readonly model: readonly (string | null)[];
  readonly input_tokens: readonly (number | null)[];
  readonly output_tokens: readonly (number | null)[];
}

export interface TraceSpansRead {
  readonly columns: SpanColumns;
  /** All spans of the trace; more than those read when these met the limit. */
  readonly total: number;
  /** False: replaced versions of spans may be among them. */
  readonly isCurrent: boolean;
}

/** Reads the spans of a trace. Sees every acknowledged write. @throws DomainError `unavailable` */
export interface TraceSpans {
  read(projectId: string, traceId: string, limit: number, signal?: AbortSignal): Promise<TraceSpansRead>;
}

/** How many of something about a span are good, and how many are not. */
export interface SpanVerdicts {
  readonly span_id: string;
  readonly good: number;
  readonly bad: number;
}

/** What is said of spans, for those of which something is said. @throws DomainError `unavailable` */
export interface Verdicts {
  /** Passed and failed, by the latest evaluation of each judge. */
  evaluations(projectId: string, spanIds: readonly string[]): SpanVerdicts[];
  /** Thumbs up and down of people, on the span and not on a judge. */
  feedback(projectId: string, spanIds: readonly string[]): SpanVerdicts[];
}

export type Outline = DeepReadonly<OutlineRead>;

export interface OutlineParts {
  readonly spans: TraceSpans;
  readonly verdicts: Verdicts;
  readonly lists: Pick<Lists, 'tracesById'>;
}

/** Whole traces, without the texts of their spans. */
export class OutlineService {
  readonly #parts: OutlineParts;

  constructor(parts: OutlineParts) {
    this.#parts = parts;
  }

  /** @throws DomainError `not_found`, `unavailable` */
  async of(
    projectId: string,
    traceId: string,
    signal?: AbortSignal,
  ): Promise<{ readonly outline: Outline; readonly isCurrent: boolean }> {
    const { columns, total, isCurrent } = await this.#parts.spans.read(projectId, traceId, MAX_OUTLINED, signal);
    const [start = 0] = columns.started_at;
    // A trace may have been posted without a span.
    if (total === 0 && !(await this.#parts.lists.tracesById(projectId, [traceId])).has(traceId))
      throw new DomainError('not_found', 'There is no trace with this id');
    const places = new Map(columns.id.map((id, place) => [id, place]));
    const said = await this.#saidOf(projectId, columns.id, places, signal);
    const { parent, missing_parents, cycles } = tree(columns, places);
    const [name, kind, status] = [indexed(columns.name), indexed(columns.kind), indexed(columns.status)];
    await nextTurn();
    const outline: Outline = {
      trace_id: traceId,
      total,
      start: total === 0 ? null : formatTimestamp(start),
      spans: {
        id: columns.id,
        parent,
        name: name.indexes,
        kind: kind.indexes,
        status: status.indexes,
        started_at: columns.started_at.map((at) => at - start),
        duration_ms: columns.duration_ms,
        cost: columns.cost,
      },
      names: name.values,
      kinds: kind.values,
      statuses: status.values,
      errors: [...columns.has_error.keys()].filter((at) => columns.has_error[at] === 1),
      ...callsOf(columns),
      missing_parents,
      cycles,
      ...said,
    };
    return { outline, isCurrent };
  }

  async #saidOf(
    projectId: string,
    ids: readonly string[],
    places: ReadonlyMap<string, number>,
    signal: AbortSignal | undefined,
  ): Promise<Pick<Outline, 'evaluations' | 'feedback'>> {
    const { verdicts } = this.#parts;
    const evaluations: SpanVerdicts[] = [];
    const feedback: SpanVerdicts[] = [];
    await inPortions(
      ids,
      (some) => {
        evaluations.push(...verdicts.evaluations(projectId, some));
        feedback.push(...verdicts.feedback(projectId, some));
      },
      signal,
    );
    const [judged, rated] = [columnsOf(evaluations, places), columnsOf(feedback, places)];
    return {
      evaluations: { span: judged.span, passed: judged.good, failed: judged.bad },
      feedback: { span: rated.span, up: rated.good, down: rated.bad },
    };
  }
}

/** The spans that name a model or tokens: most do not, so that these columns are about them alone. */
function callsOf({ model, input_tokens, output_tokens }: SpanColumns): Pick<Outline, 'models' | 'calls'> {
  const span = [...model.keys()].filter((at) => (model[at] ?? input_tokens[at] ?? output_tokens[at] ?? null) !== null);
  const of = <T>(column: readonly (T | null)[]) => span.map((at) => column[at] ?? null);
  const { indexes, values } = indexed(of(model));
  return {
    models: values,
    calls: { span, model: indexes, input_tokens: of(input_tokens), output_tokens: of(output_tokens) },
  };
}

function columnsOf(verdicts: readonly SpanVerdicts[], places: ReadonlyMap<string, number>) {
  return {
    span: verdicts.map(({ span_id }) => places.get(span_id) ?? -1),
    good: verdicts.map(({ good }) => good),
    bad: verdicts.map(({ bad }) => bad),
  };
}

/** Values as indexes into the distinct ones, in the order in which they come first; -1: none. */
function indexed(values: readonly (string | null)[]): { readonly indexes: number[]; readonly values: string[] } {
  const known = new Map<string, number>();
  const indexes = values.map((value) => {
    if (value === null) return -1;
    const index = known.get(value) ?? known.size;
    if (index === known.size) known.set(value, index);
    return index;
  });
  return { indexes, values: [...known.keys()] };
}

/**
 * Parents by place, -1 for none. Nothing is lost of what spans say: parents that are not there are named beside, and so are
 * cycles, each of which is opened at its first span, so that following parents ends.
 */
function tree(
  { id, parent: parents }: Pick<SpanColumns, 'id' | 'parent'>,
  places: ReadonlyMap<string, number>,
): Pick<Outline, 'missing_parents' | 'cycles'> & { readonly parent: number[] } {
  const missing = { span: [] as number[], id: [] as string[] };
  const parent = id.map((_id, place) => {
    const named = parents[place] ?? null;
    if (named === null) return -1;
    const found = places.get(named);
    if (found !== undefined) return found;
    missing.span.push(place);
    missing.id.push(named);
    return -1;
  });
  const cycles = cyclesOf(parent);
  for (const [first = -1] of cycles) parent[first] = -1;
  return { parent, missing_parents: missing, cycles };
}

/** The cycles among parents, each from its first span on, every next one being the parent of the one before. */
function cyclesOf(parent: readonly number[]): number[][] {
  /** By span, from which one it was first reached, plus one; 0: not yet. */
  const reached = new Uint32Array(parent.length);
  const cycles: number[][] = [];
  for (let from = 0; from < parent.length; from += 1) {
    let at = from;
    while (at !== -1 && reached[at] === 0) {
      reached[at] = from + 1;
      at = parent[at] ?? -1;
    }
    if (at === -1 || reached[at] !== from + 1) continue;
    const members = [at];
    for (let next = parent[at] ?? at; next !== at; next = parent[next] ?? at) members.push(next);
    const first = members.indexOf(members.reduce((least, each) => Math.min(least, each)));
    cycles.push([...members.slice(first), ...members.slice(0, first)]);
  }
  return cycles;
}
