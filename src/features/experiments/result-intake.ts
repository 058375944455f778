import { DomainError, MAX_ISSUES, type Issue } from '../../engine/errors.js';
import { resultId } from '../../engine/traces/model/experiment/result-id.js';
import type { ExperimentResults } from '../../engine/traces/model/experiment/results.js';
import { invalid } from '../../engine/validation/validation.js';
import { UnknownNames } from '../../engine/validation/unknown-names.js';
import type { DeletionScope, WorkUnderWay } from '../../engine/work/work-under-way.js';
import type { DatasetService, VersionPlace } from '../datasets/dataset-service.js';
import type { SpanIngest } from '../traces/span-ingest.js';
import { MAX_RESULTS, requireRunning, type Experiment, type ExperimentStore } from './experiment.js';
import { asGiven, readResults, rowIssues, spanOf, type GivenResult } from './given-result.js';

/** Most bytes of the rows that the results of one request are stored with. */
const MAX_ROW_BYTES_AT_ONCE = 32 * 1024 * 1024;

export interface StoredId {
  readonly id: string;
  readonly row_id: string;
  readonly repetition: number;
}

export interface ResultIntakeParts {
  readonly experiments: ExperimentStore;
  readonly results: Pick<ExperimentResults, 'figures'>;
  readonly datasets: Pick<DatasetService, 'rowSizes' | 'namedRows'>;
  readonly ingest: Pick<SpanIngest, 'postSpans'>;
}

/** Results that are being stored. */
interface Storing {
  /** Null: it only waits for others, which hold the rows. */
  readonly projectId: string | null;
  readonly experimentId: string;
  readonly done: Promise<unknown>;
}

/** Takes results of experiments in, and makes spans of them. */
export class ResultIntake implements WorkUnderWay {
  readonly #parts: ResultIntakeParts;
  readonly #underWay = new Set<Storing>();

  constructor(parts: ResultIntakeParts) {
    this.#parts = parts;
  }

  /**
   * Stores a result, or an array of results, all or none.
   * @throws DomainError `conflict` for one that takes none anymore, or whose dataset is gone; `invalid` with every issue;
   *   `too_large`; those of WriteLog
   */
  async post(projectId: string, experiment: Experiment, body: unknown): Promise<StoredId[]> {
    requireRunning(experiment);
    if (experiment.dataset.gone)
      throw new DomainError('conflict', 'The dataset of the experiment was deleted: its rows are not known any more');
    const { results, issues } = readResults(body);
    const sizes = this.#parts.datasets.rowSizes(
      placeOf(experiment),
      results.map(({ row_id }) => row_id),
    );
    issues.push(...rowIssues(results, experiment, sizes));
    const at = (index: number, issue: Issue) => ({
      ...issue,
      pointer: `${Array.isArray(body) ? `/${index}` : ''}${issue.pointer}`,
    });
    if (issues.length > 0) throw invalid(issues.slice(0, MAX_ISSUES).map(({ index, ...issue }) => at(index, issue)));
    if (sum(sizes.values()) > MAX_ROW_BYTES_AT_ONCE)
      throw new DomainError(
        'too_large',
        `The rows have more than ${MAX_ROW_BYTES_AT_ONCE} bytes: send fewer results at once`,
      );
    try {
      return await this.store(projectId, experiment, results);
    } catch (error) {
      throw asGiven(error, at);
    }
  }

  /**
   * Stores results, however the experiment stands. Those of rows that are not there are stored without the row.
   * @throws DomainError `conflict` with too many; what SpanIngest throws
   */
  async store(projectId: string, experiment: Experiment, results: readonly GivenResult[]): Promise<StoredId[]> {
    return this.#noted(projectId, experiment.id, this.#store(projectId, experiment, results));
  }

  /**
   * Does what stores results of an experiment several times: a deletion of the experiment waits for all of it. It must look for the
   * experiment each time.
   */
  during<T>(experimentId: string, work: () => Promise<T>): Promise<T> {
    return this.#noted(null, experimentId, work());
  }

  /** Does what stores a result, and other spans of rows: deletions of the experiment and of rows wait for it. */
  storing<T>(projectId: string, experimentId: string, work: () => Promise<T>): Promise<T> {
    return this.#noted(projectId, experimentId, work());
  }

  async #noted<T>(projectId: string | null, experimentId: string, done: Promise<T>): Promise<T> {
    const storing: Storing = { projectId, experimentId, done: done.catch(() => undefined) };
    this.#underWay.add(storing);
    try {
      return await done;
    } finally {
      this.#underWay.delete(storing);
    }
  }

  /** Resolves when what is in progress of an experiment is stored, or has failed. */
  async idle(experimentId: string): Promise<void> {
    await this.#ended((storing) => storing.experimentId === experimentId);
  }

  /** A row that is erased may have been read for a result: that is stored by then, and found. */
  async giveUp({ projectId }: DeletionScope): Promise<void> {
    await this.#ended((storing) => storing.projectId === projectId);
  }

  async #ended(which: (storing: Storing) => boolean): Promise<void> {
    await Promise.all([...this.#underWay].filter(which).map(({ done }) => done));
  }

  async #store(projectId: string, experiment: Experiment, results: readonly GivenResult[]): Promise<StoredId[]> {
    if (results.length === 0) return [];
    const { datasets, experiments, ingest } = this.#parts;
    const place = placeOf(experiment);
    const rowIds = results.map(({ row_id }) => row_id);
    const sizes = datasets.rowSizes(place, rowIds);
    await this.#requireRoom(projectId, experiment, rowIds.filter((rowId) => !sizes.has(rowId)).length);
    const stored: StoredId[] = [];
    for (const [from, to] of portions(rowIds, sizes)) {
      const portion = results.slice(from, to);
      const rows = datasets.namedRows(place, rowIds.slice(from, to));
      const spans = portion.map((result) => spanOf(experiment, result, rows.get(result.row_id) ?? null));
      const options = { minimal: true, mayRead: true, unknown: new UnknownNames() };
      await ingest.postSpans(projectId, spans, options);
      const strays = portion.filter(({ row_id }) => !sizes.has(row_id)).length;
      const repetitions = Math.max(...portion.map(({ repetition }) => repetition));
      experiments.noteResults(experiment.id, { strays, repetitions, at: Date.now() * 1000 });
      stored.push(
        ...portion.map(({ row_id, repetition }) => ({
          id: resultId(experiment.id, row_id, repetition),
          row_id,
          repetition,
        })),
      );
    }
    return stored;
  }

  /** Counts results only where so many of unknown rows came that there may be too many: those of its rows fit. */
  async #requireRoom(projectId: string, { id, rows, repetitions }: Experiment, strays: number): Promise<void> {
    const { experiments, results } = this.#parts;
    if (strays === 0 || rows * repetitions + experiments.strays(id) + strays <= MAX_RESULTS) return;
    const held = (await results.figures(projectId, [id])).get(id)?.results ?? 0;
    experiments.setStrays(id, held);
    if (held + strays > MAX_RESULTS)
      throw new DomainError('conflict', `An experiment can have at most ${MAX_RESULTS} results, and has ${held}`);
  }
}

export function placeOf({ dataset, dataset_version }: Pick<Experiment, 'dataset' | 'dataset_version'>): VersionPlace {
  return { id: dataset.gone ? '' : dataset.id, number: dataset_version };
}

/** Results whose rows are stored with one write, from one index to before another. */
function* portions(rowIds: readonly string[], sizes: ReadonlyMap<string, number>): Iterable<readonly [number, number]> {
  let from = 0;
  let bytes = 0;
  for (const [index, rowId] of rowIds.entries()) {
    const own = sizes.get(rowId) ?? 0;
    if (bytes + own > MAX_ROW_BYTES_AT_ONCE && index > from) {
      yield [from, index];
      from = index;
      bytes = 0;
    }
    bytes += own;
  }
  yield [from, rowIds.length];
}

function sum(values: Iterable<number>): number {
  let all = 0;
  for (const value of values) all += value;
  return all;
}
