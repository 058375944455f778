import type { JudgedSpan } from '../../engine/traces/model/judged/span-reader.js';
import type { DatasetStore, RowReads } from '../datasets/dataset.js';
import { partsOf } from '../datasets/row-parts.js';
import type { JudgedRow, JudgedRows } from '../judges/judged-row.js';
import type { ExperimentStore } from './experiment.js';
import { placeOf } from './result-intake.js';

export interface ResultRowsParts {
  readonly experiments: Pick<ExperimentStore, 'find'>;
  readonly datasets: Pick<DatasetStore, 'find'>;
  readonly rows: Pick<RowReads, 'named'>;
}

/** Shows judges the rows of results. */
export class RowsOfResults implements JudgedRows {
  readonly #parts: ResultRowsParts;

  constructor(parts: ResultRowsParts) {
    this.#parts = parts;
  }

  keyOf(projectId: string, { experiment_id, row_id }: Pick<JudgedSpan, 'experiment_id' | 'row_id'>): string | null {
    if (experiment_id == null || row_id == null) return null;
    const experiment = this.#parts.experiments.find(projectId, experiment_id);
    return experiment === undefined ? null : `${experiment.dataset.id}/${row_id}`;
  }

  rowOf(projectId: string, { experiment_id, row_id }: Pick<JudgedSpan, 'experiment_id' | 'row_id'>): JudgedRow | null {
    if (experiment_id === null || row_id == null) return null;
    const { experiments, datasets, rows } = this.#parts;
    const experiment = experiments.find(projectId, experiment_id);
    const dataset = experiment && datasets.find(projectId, { id: experiment.dataset.id });
    if (experiment === undefined || dataset === undefined) return null;
    const { id, number } = placeOf(experiment);
    const content = rows.named(id, number, [row_id]).get(row_id);
    if (content === undefined) return null;
    const columns = JSON.parse(content) as Readonly<Record<string, unknown>>;
    return { columns, expected: partsOf(columns, dataset.roles).expected };
  }
}
