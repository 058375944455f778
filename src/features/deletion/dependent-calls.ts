import { resultIds } from '../../engine/traces/model/experiment/result-id.js';
import type { DeletedThing, StoredSpans } from '../../engine/traces/model/deletion/stored-spans.js';
import { callTraceId } from '../judges/call-spans.js';
import { jobTraceId } from '../trials/model-trials.js';
import type { Deletion, DeletionItem, DeletionStore } from './deletion-store.js';
import { inParts } from './noted-parts.js';

/** Reads what a deletion has noted, in portions. @param after only of what was noted after this item */
export type ItemPages = (
  deletion: Deletion,
  kinds: readonly DeletionItem['kind'][],
  after?: number,
) => AsyncIterable<readonly DeletionItem[]>;

export interface DependentCallsParts {
  readonly store: Pick<DeletionStore, 'note' | 'experimentsOn'>;
  readonly spans: Pick<StoredSpans, 'contents' | 'callsShowing' | 'resultsOfRows'>;
  readonly pages: ItemPages;
  /** Lets others have their turn. @throws when the deletion is cut off */
  readonly rest: () => Promise<void>;
}

/** Traces that are looked for together. */
const TRACES_AT_ONCE = 500;
/** Experiments and rows whose results are looked for together. */
const EXPERIMENTS_AT_ONCE = 100;
const ROWS_AT_ONCE = 500;
/** Rows of one experiment, of each of which there may be 32 results. */
const ROWS_OF_ONE = 250;

/** Notes the calls of models and the results of experiments that hold texts of what is deleted: they go with it. */
export class DependentCalls {
  readonly #parts: DependentCallsParts;

  constructor(parts: DependentCallsParts) {
    this.#parts = parts;
  }

  /** Notes the calls of runs about the spans. @param after only of runs noted after this item @returns the last item */
  async ofRuns(deletion: Deletion, after: number): Promise<number> {
    let last = after;
    for await (const page of this.#parts.pages(deletion, ['run'], after)) {
      for (let from = 0; from < page.length; from += TRACES_AT_ONCE) {
        const traces = page.slice(from, from + TRACES_AT_ONCE).map(({ id }) => callTraceId(id));
        await this.#note(deletion, this.#parts.spans.contents(deletion.project_id, traces));
      }
      last = page.at(-1)?.seq ?? last;
    }
    return last;
  }

  /** Notes other calls of models that hold texts of the spans: those that showed them, and all those of jobs. */
  async ofOthers(deletion: Deletion, jobIds: readonly string[]): Promise<void> {
    const { spans } = this.#parts;
    const projectId = deletion.project_id;
    for await (const page of this.#parts.pages(deletion, ['shown'])) {
      const judges = [...new Set(page.map(({ trace_id }) => trace_id))];
      await this.#note(deletion, spans.callsShowing(projectId, judges, [...new Set(page.map(({ id }) => id))]));
    }
    await this.#note(deletion, spans.contents(projectId, jobIds.map(jobTraceId)));
  }

  /**
   * Notes results of experiments that were made of erased rows, whose texts they hold.
   * @param after only of rows noted after this item @returns the last item
   */
  async ofResults(deletion: Deletion, after: number): Promise<number> {
    let last = after;
    for await (const page of this.#parts.pages(deletion, ['row'], after)) {
      for (const datasetId of new Set(page.map(({ trace_id }) => trace_id))) {
        const rowIds = page.filter(({ trace_id }) => trace_id === datasetId).map(({ id }) => id);
        for (let from = 0; from < rowIds.length; from += ROWS_AT_ONCE)
          await this.#resultsOfRows(deletion, datasetId, rowIds.slice(from, from + ROWS_AT_ONCE));
      }
      last = page.at(-1)?.seq ?? last;
    }
    return last;
  }

  async #resultsOfRows(deletion: Deletion, datasetId: string, rowIds: readonly string[]): Promise<void> {
    const { store, spans } = this.#parts;
    for (let after: string | undefined = ''; after !== undefined;) {
      const experiments = store.experimentsOn(deletion.project_id, datasetId, after, EXPERIMENTS_AT_ONCE);
      const ids = experiments.map(({ id }) => id);
      if (ids.length > 0) await this.#note(deletion, spans.resultsOfRows(deletion.project_id, ids, rowIds));
      // The server stores the calls of a result before it: after a crash they may be alone.
      for (const { id, repetitions } of experiments)
        for (let from = 0; from < rowIds.length; from += ROWS_OF_ONE) {
          const traces = rowIds.slice(from, from + ROWS_OF_ONE).flatMap((row) => resultIds(id, row, repetitions));
          await this.#note(deletion, spans.contents(deletion.project_id, traces));
          await this.#parts.rest();
        }
      after = ids.at(-1);
    }
  }

  /** Notes calls that go too: clients may send very many that look like some. */
  async #note(deletion: Deletion, found: AsyncIterable<readonly DeletedThing[]>): Promise<void> {
    for await (const part of inParts(found)) {
      this.#parts.store.note(deletion.seq, part.filter(({ kind }) => kind === 'span').map(asCall));
      await this.#parts.rest();
    }
  }
}

function asCall({ trace_id, id, started_at }: DeletedThing) {
  return { kind: 'call' as const, trace_id, id, started_at };
}
