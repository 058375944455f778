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
  readonly results: Pick<ExperimentResults, 'measured'>;
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
    const there = await this.#there(projectId, experiment.id, signal);
    const missing: MissingResult[] = [];
    let [total, index] = [0, 0];
    for (const portion of this.#parts.datasets.rowIds(placeOf(experiment))) {
      for (const row_id of portion) {
        if (!isMeant(row_id, index++)) continue;
        const repetitions = there.get(row_id) ?? 0;
        for (let repetition = 1; repetition <= experiment.repetitions; repetition += 1) {
          if ((repetitions & bitOf(repetition)) !== 0) continue;
          if (total >= offset && missing.length < limit) missing.push({ row_id, repetition });
          total += 1;
        }
      }
      await nextTurn();
      signal?.throwIfAborted();
    }
    return { missing, total };
  }

  /** By row, a bit for each repetition that has a result: there may be a million. */
  async #there(projectId: string, id: string, signal?: AbortSignal): Promise<ReadonlyMap<string, number>> {
    const there = new Map<string, number>();
    for await (const portion of this.#parts.results.measured(projectId, id, [], signal))
      for (const { row_id, repetition } of portion) there.set(row_id, (there.get(row_id) ?? 0) | bitOf(repetition));
    return there;
  }
}

/** A number of JavaScript has as many bits as an experiment has repetitions at most. */
const bitOf = (repetition: number) => 1 << (repetition - 1);
