import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Window } from '../../engine/schema/page.js';
import type { ExperimentResults } from '../../engine/traces/model/experiment/results.js';
import type { DatasetService } from '../datasets/dataset-service.js';
import type { Experiment } from './experiment.js';
import { placeOf } from './result-intake.js';

export interface MissingResult {
  readonly row_id: string;
  readonly repetition: number;
}

export interface MissingResultsParts {
  readonly results: Pick<ExperimentResults, 'present'>;
  readonly datasets: Pick<DatasetService, 'rowIds'>;
}

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
  ): Promise<{ readonly missing: readonly MissingResult[]; readonly total: number }> {
    const missing: MissingResult[] = [];
    let total = 0;
    for (const [row_id, repetitions] of await this.#rows(projectId, experiment, isMeant, signal))
      for (let repetition = 1; repetition <= experiment.repetitions; repetition += 1) {
        if ((repetitions & bitOf(repetition)) !== 0) continue;
        if (total >= offset && missing.length < limit) missing.push({ row_id, repetition });
        total += 1;
      }
    return { missing, total };
  }

  /** The rows that are meant, in the order of the dataset, each with a bit for each repetition that has a result. */
  async #rows(
    projectId: string,
    experiment: Experiment,
    isMeant: (rowId: string, index: number) => boolean,
    signal: AbortSignal | undefined,
  ): Promise<ReadonlyMap<string, number>> {
    const { datasets, results } = this.#parts;
    const rows = new Map<string, number>();
    let index = 0;
    for (const portion of datasets.rowIds(placeOf(experiment))) {
      for (const row_id of portion) if (isMeant(row_id, index++)) rows.set(row_id, 0);
      await nextTurn();
      signal?.throwIfAborted();
    }
    if (rows.size === 0) return rows;
    // Results of rows that the version does not have may be any number, and are not kept.
    for await (const portion of results.present(projectId, experiment.id, signal))
      for (const { row, repetitions } of portion) if (rows.has(row)) rows.set(row, repetitions);
    return rows;
  }
}

/** A number of JavaScript has as many bits as an experiment has repetitions at most. */
const bitOf = (repetition: number) => 1 << (repetition - 1);
