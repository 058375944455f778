import type { Span } from '../../../domain/span/span.js';
import type { AppendedWrites } from './rows.js';

/** Notes which spans of a project are written or deleted, so that nothing older is written over them. */
export class SpanWatch {
  readonly #projectId: string;
  readonly #noted = new Set<string>();
  readonly #end: () => void;

  constructor(projectId: string, end: () => void) {
    this.#projectId = projectId;
    this.#end = end;
  }

  note({ projectId, spans = [], tombstones = [] }: AppendedWrites): void {
    if (projectId !== this.#projectId) return;
    for (const span of spans) this.#noted.add(keyOf(span));
    for (const tombstone of tombstones) if (tombstone.rowType === 0) this.#noted.add(keyOf(tombstone));
  }

  /** Whether the span was written or deleted since the watch began. */
  sees(span: Pick<Span, 'trace_id' | 'id'>): boolean {
    return this.#noted.has(keyOf(span));
  }

  end(): void {
    this.#end();
  }
}

function keyOf({ trace_id, id }: Pick<Span, 'trace_id' | 'id'>): string {
  return `${trace_id}/${id}`;
}
