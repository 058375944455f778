import type { DeletedThing, Below } from '../../engine/traces/model/deletion/stored-spans.js';
import { DomainError } from '../../engine/errors.js';
import type { Micros } from '../../engine/timestamp.js';
import { SOUGHT_AT_ONCE, type OldTrace, type OldTraces } from '../../engine/traces/model/retention/old-traces.js';
import type { SpansWithFeedback } from './spans-with-feedback.js';

export interface GoingParts {
  readonly traces: Pick<OldTraces, 'things' | 'tracesOf'>;
  readonly feedback: SpansWithFeedback;
}

/** Looks at feedback that came meanwhile, of some tens of milliseconds each; other projects wait as long. */
const MAX_LOOKS = 50;
/** Spans whose ids are read together. */
const READ_AT_ONCE = 9_000;

/** Traces that are about to go. Those that someone gave feedback on leave them while all that they hold is read. */
export class GoingTraces {
  readonly #parts: GoingParts;
  readonly #projectId: string;
  readonly #before: Micros;
  readonly #left: Map<string, OldTrace>;

  /** @param traces in the order of {@link OldTraces.examine}: each page then reads one part of what is stored, not all */
  constructor(parts: GoingParts, projectId: string, before: Micros, traces: readonly OldTrace[]) {
    this.#parts = parts;
    this.#projectId = projectId;
    this.#before = before;
    this.#left = new Map(traces.map((trace) => [trace.id, trace]));
  }

  /** Those that go, once {@link things} is read to its end. */
  get left(): readonly OldTrace[] {
    return [...this.#left.values()];
  }

  /**
   * All that they hold, page by page. Feedback that comes while the rest is read is looked for at the end: nothing comes between
   * that and the order.
   * @throws DomainError `conflict` when some came too late for its trace to be left out
   */
  async *things(): Below['things'] & AsyncGenerator<readonly DeletedThing[]> {
    const { traces, feedback } = this.#parts;
    const known = feedback.last();
    const any = feedback.page(this.#projectId, '', 1).length > 0;
    for (const some of together(this.left)) {
      if (any) await this.#lookThroughLong(some);
      const ids = some.map(({ id }) => id).filter((id) => this.#left.has(id));
      let begun: string | undefined;
      for await (const page of traces.things(this.#projectId, ids)) {
        const rest = any ? this.#withoutFeedback(page, begun) : page;
        begun = rest.at(-1)?.trace_id ?? begun;
        if (rest.length > 0) yield rest;
      }
    }
    await this.#requireNoneSince(known);
  }

  /** Of a trace that is more than a page, all is looked through before any of it goes. */
  async #lookThroughLong(traces: readonly OldTrace[]): Promise<void> {
    const [first] = traces;
    if (first === undefined || first.spans <= READ_AT_ONCE) return;
    for await (const page of this.#parts.traces.things(this.#projectId, [first.id])) this.#withoutFeedback(page);
  }

  /** @param begun the trace that the page before ended with, which may go on in this one */
  #withoutFeedback(page: readonly DeletedThing[], begun?: string): readonly DeletedThing[] {
    const spans = page.filter(({ kind }) => kind === 'span');
    const found = new Set(
      this.#parts.feedback.among(
        this.#projectId,
        spans.map(({ id }) => id),
      ),
    );
    if (found.size === 0) return page;
    const staying = new Set(spans.filter(({ id }) => found.has(id)).map(({ trace_id }) => trace_id));
    if (begun !== undefined && staying.has(begun)) throw tooLate();
    for (const id of staying) this.#left.delete(id);
    return page.filter(({ trace_id }) => !staying.has(trace_id));
  }

  async #requireNoneSince(known: number): Promise<void> {
    const { traces, feedback } = this.#parts;
    for (let last = known, looks = 0; looks < MAX_LOOKS; looks += 1) {
      const came = feedback.since(this.#projectId, last, SOUGHT_AT_ONCE);
      if (came.spanIds.length === 0) return;
      last = came.last;
      const found = await traces.tracesOf(this.#projectId, came.spanIds, this.#before);
      if (found.some((id) => this.#left.has(id))) throw tooLate();
    }
    throw new DomainError(
      'conflict',
      'Feedback arrived faster than it could be checked; a later run deletes old traces',
    );
  }
}

function tooLate(): DomainError {
  return new DomainError('conflict', 'A trace due for deletion received feedback; it is kept');
}

/** So many traces at a time that what they hold is one page. Of a trace, something may have been posted as well. */
function* together(traces: readonly OldTrace[]): Generator<readonly OldTrace[]> {
  let some: OldTrace[] = [];
  let things = 0;
  for (const trace of traces) {
    if (some.length > 0 && things + trace.spans + 1 > READ_AT_ONCE) {
      yield some;
      [some, things] = [[], 0];
    }
    some.push(trace);
    things += trace.spans + 1;
  }
  if (some.length > 0) yield some;
}
