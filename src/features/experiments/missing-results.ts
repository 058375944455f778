import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Window } from '../../engine/schema/page.js';
import type { ExperimentResults } from '../../engine/traces/model/experiment/results.js';
import type { PlacedId } from '../datasets/dataset.js';
import type { DatasetService } from '../datasets/dataset-service.js';
import type { Experiment } from './experiment.js';
import { placeOf } from './result-intake.js';

export interface MissingResult {
  readonly row_id: string;
  readonly repetition: number;
}

export interface MissingPage {
  readonly missing: readonly MissingResult[];
  /** Null: they were not counted. */
  readonly total: number | null;
  /** Where the next page begins; null: there is none. */
  readonly next: string | null;
}

/** A row, and which repetitions of it have no result, or one with an error. */
export interface UnfinishedRow extends PlacedId {
  readonly repetitions: readonly number[];
}

export interface UnfinishedPage {
  readonly rows: readonly UnfinishedRow[];
  /** Where the next page begins; null: there is none. */
  readonly next: string | null;
}

export interface MissingResultsParts {
  readonly results: Pick<ExperimentResults, 'present' | 'presentOf' | 'page'>;
  readonly datasets: Pick<DatasetService, 'rowIds'>;
}

/** A row, and which repetitions of it have a result, as bits. */
interface KnownRow {
  readonly row: PlacedId;
  repetitions: number;
}

/** Rows of which it is read together whether they have results: their ids are in the address of a request. */
const ROWS_AT_ONCE = 200;
/** Rows that a page behind another passes before it reads which results there are of all that are left. */
const MANY_ROWS = 2_000;

/** Where a page of what is missing ends. */
export const MISSING_AFTER = '^[0-9]{1,15}-[0-9]{1,15}-[0-9]{1,2}$';

/** Where a page of rows that are unfinished ends. */
export const UNFINISHED_AFTER = '^[0-9]{1,15}-[0-9]{1,15}$';

/** Finds what an experiment still has to try, so that a run that was cut off goes on. */
export class MissingResults {
  readonly #parts: MissingResultsParts;

  constructor(parts: MissingResultsParts) {
    this.#parts = parts;
  }

  /**
   * In the order of the dataset; of a dataset that is gone, nothing.
   * @param isMeant whether a row is, by its id and its place; default: all are
   * @throws DomainError `unavailable`
   */
  async page(
    projectId: string,
    experiment: Experiment,
    { limit, offset }: Window,
    signal?: AbortSignal,
    isMeant: (rowId: string, index: number) => boolean = () => true,
  ): Promise<MissingPage> {
    const page = new Page(experiment, { limit, offset });
    for (const known of (await this.#rows(projectId, experiment, isMeant, signal)).values()) page.add(known);
    return { missing: page.missing, total: page.total, next: page.next };
  }

  /**
   * The same behind the end of another page, without counting all: it costs what it passes.
   * @param after as {@link MISSING_AFTER} says
   * @throws DomainError `unavailable`
   */
  async behind(
    projectId: string,
    experiment: Experiment,
    after: string,
    window: Window,
    signal?: AbortSignal,
  ): Promise<MissingPage> {
    const { datasets, results } = this.#parts;
    const [position = 0, seq = 0, repetition = 0] = after.split('-').map(Number);
    const page = new Page(experiment, window, { seq, repetition });
    let all: ReadonlyMap<string, KnownRow> | null = null;
    let passed = 0;
    for (const portion of datasets.rowIds(placeOf(experiment), { position, seq: seq - 1 }, ROWS_AT_ONCE)) {
      if (passed >= MANY_ROWS) all ??= await this.#rows(projectId, experiment, () => true, signal);
      const ids = portion.map(({ row_id }) => row_id);
      const present = all === null ? await results.presentOf(projectId, experiment.id, ids, signal) : [];
      const bits = new Map(present.map(({ row, repetitions }) => [row, repetitions]));
      for (const row of portion)
        page.add({ row, repetitions: all?.get(row.row_id)?.repetitions ?? bits.get(row.row_id) ?? 0 });
      if (page.next !== null) break;
      passed += portion.length;
      await nextTurn();
      signal?.throwIfAborted();
    }
    return { missing: page.missing, total: null, next: page.next };
  }

  /**
   * Rows that lack a result, or have one with an error, behind the end of another page, in the order of the dataset.
   * @param after as {@link UNFINISHED_AFTER} says; null: from the beginning
   * @param isMeant whether a row is; default: all are
   * @throws DomainError `unavailable`
   */
  async unfinished(
    projectId: string,
    experiment: Experiment,
    { after, limit }: { readonly after: string | null; readonly limit: number },
    signal?: AbortSignal,
    isMeant: (rowId: string) => boolean = () => true,
  ): Promise<UnfinishedPage> {
    const { datasets, results } = this.#parts;
    const [position = 0, seq = 0] = (after ?? '0-0').split('-').map(Number);
    const all = Array.from({ length: experiment.repetitions }, (_none, index) => index + 1);
    const query = { experimentId: experiment.id, repetition: null, hasError: false, idsOnly: true } as const;
    const rows: UnfinishedRow[] = [];
    for (const portion of datasets.rowIds(placeOf(experiment), { position, seq }, ROWS_AT_ONCE)) {
      const rowIds = portion.map(({ row_id }) => row_id);
      const window = { rowIds, limit: rowIds.length * all.length, offset: 0, count: false };
      const found = await results.page(projectId, { ...query, ...window }, signal);
      const done = new Set(found.results.map(({ row_id, repetition }) => `${repetition} ${row_id}`));
      for (const row of portion) {
        const repetitions = all.filter((repetition) => !done.has(`${repetition} ${row.row_id}`));
        if (repetitions.length === 0 || !isMeant(row.row_id)) continue;
        const last = rows.at(-1);
        if (rows.length === limit && last !== undefined) return { rows, next: `${last.position}-${last.seq}` };
        rows.push({ ...row, repetitions });
      }
      await nextTurn();
      signal?.throwIfAborted();
    }
    return { rows, next: null };
  }

  /** The rows that are meant, in the order of the dataset. */
  async #rows(
    projectId: string,
    experiment: Experiment,
    isMeant: (rowId: string, index: number) => boolean,
    signal: AbortSignal | undefined,
  ): Promise<ReadonlyMap<string, KnownRow>> {
    const { datasets, results } = this.#parts;
    const rows = new Map<string, KnownRow>();
    let index = 0;
    for (const portion of datasets.rowIds(placeOf(experiment))) {
      for (const row of portion) if (isMeant(row.row_id, index++)) rows.set(row.row_id, { row, repetitions: 0 });
      await nextTurn();
      signal?.throwIfAborted();
    }
    if (rows.size === 0) return rows;
    // Results of rows that the version does not have may be any number, and are not kept.
    for await (const portion of results.present(projectId, experiment.id, signal))
      for (const { row, repetitions } of portion) {
        const known = rows.get(row);
        if (known !== undefined) known.repetitions = repetitions;
      }
    return rows;
  }
}

/** A page, while rows are added in their order. */
class Page {
  readonly missing: MissingResult[] = [];
  total = 0;
  next: string | null = null;
  readonly #repetitions: number;
  readonly #window: Window;
  readonly #begin: { readonly seq: number; readonly repetition: number };
  #last: string | null = null;

  /** @param begin behind which repetition of a row the first one is, if that is still there */
  constructor({ repetitions }: Experiment, window: Window, begin = { seq: 0, repetition: 0 }) {
    this.#repetitions = repetitions;
    this.#window = window;
    this.#begin = begin;
  }

  add({ row: { row_id, position, seq }, repetitions }: KnownRow): void {
    const { limit, offset } = this.#window;
    const first = seq === this.#begin.seq ? this.#begin.repetition + 1 : 1;
    for (let repetition = first; repetition <= this.#repetitions; repetition += 1) {
      if ((repetitions & bitOf(repetition)) !== 0) continue;
      if (this.total >= offset && this.missing.length < limit) {
        this.missing.push({ row_id, repetition });
        this.#last = `${position}-${seq}-${repetition}`;
      } else if (this.missing.length === limit) this.next ??= this.#last;
      this.total += 1;
    }
  }
}

/** A number of JavaScript has as many bits as an experiment has repetitions at most. */
const bitOf = (repetition: number) => 1 << (repetition - 1);
