import type { ScorePlace } from '../model/score/score.js';
import type { AppendedWrites } from './rows.js';
import type { SpanRow } from './table-columns.js';

/** The ids of what is written: all that a watch takes of it. */
export type NamedWrites = Pick<AppendedWrites, 'projectId' | 'tombstones' | 'removedTraces'> & {
  readonly spans?: readonly Pick<SpanRow, 'trace_id' | 'id' | 'originVersion' | 'builtOn'>[];
  readonly traces?: readonly Named[];
  readonly sessions?: readonly Named[];
  readonly scores?: readonly Pick<ScorePlace, 'id'>[];
};

interface Named {
  readonly id: string;
}

/** A written span, posted trace, posted session or score, by its ids. */
export type Written =
  | { readonly kind: 'span'; readonly trace_id: string; readonly id: string }
  | { readonly kind: 'trace' | 'session' | 'score'; readonly id: string };

/** Notes what is written or deleted in a project, so that nothing older is written over it. */
export class WriteWatch {
  readonly #projectId: string;
  readonly #sent = new Set<string>();
  /** Spans that were deleted, stored again by the server itself, or with more in them: they hold what was there before. */
  readonly #changed = new Set<string>();
  /** Traces that were removed whole. */
  readonly #removed = new Set<string>();
  /** Traces that anything was written to, by whomever. */
  readonly #touched = new Set<string>();
  readonly #end: () => void;

  constructor(projectId: string, end: () => void) {
    this.#projectId = projectId;
    this.#end = end;
  }

  note(writes: NamedWrites): void {
    const {
      projectId,
      spans = [],
      tombstones = [],
      removedTraces = [],
      traces = [],
      sessions = [],
      scores = [],
    } = writes;
    if (projectId !== this.#projectId) return;
    for (const { originVersion, builtOn, trace_id, id } of spans) {
      const isNew = originVersion === undefined && builtOn === undefined;
      (isNew ? this.#sent : this.#changed).add(keyOf({ kind: 'span', trace_id, id }));
    }
    for (const { id } of traces) this.#sent.add(keyOf({ kind: 'trace', id }));
    for (const { id } of sessions) this.#sent.add(keyOf({ kind: 'session', id }));
    for (const { id } of scores) this.#sent.add(keyOf({ kind: 'score', id }));
    for (const { rowType, trace_id, id } of tombstones)
      if (rowType === 0) this.#changed.add(keyOf({ kind: 'span', trace_id, id }));
    for (const { trace_id } of removedTraces) this.#removed.add(trace_id);
    for (const { trace_id } of spans) this.#touched.add(trace_id);
    for (const { id } of traces) this.#touched.add(id);
  }

  /** Whether a span of a trace, or what is posted about it, was written in any way since the watch began. */
  sawWritten(traceId: string): boolean {
    return this.#touched.has(traceId);
  }

  /** Whether a client has sent a whole span, a trace, session or score since the watch began. */
  sawSent(written: Written): boolean {
    return this.#sent.has(keyOf(written));
  }

  /** Whether a span was written in any way, or deleted, since the watch began. */
  sawChanged(span: { readonly trace_id: string; readonly id: string }): boolean {
    const key = keyOf({ kind: 'span', trace_id: span.trace_id, id: span.id });
    return this.#sent.has(key) || this.#changed.has(key) || this.#removed.has(span.trace_id);
  }

  end(): void {
    this.#end();
  }
}

function keyOf(written: Written): string {
  return written.kind === 'span' ? `span/${written.trace_id}/${written.id}` : `${written.kind}/${written.id}`;
}
