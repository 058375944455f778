import type { DatasetService } from '../datasets/dataset-service.js';
import { partsOf } from '../datasets/row-parts.js';
import { MAX_BEGINNING, type Experiment } from './experiment.js';
import { placeOf } from './result-intake.js';

/** Larger rows are not read as JSON. */
const MAX_READ_BYTES = 64 * 1024;

/** How what goes in and what should come out begin; null: the row has none. */
export interface RowBeginning {
  readonly input_data: string | null;
  readonly expected: string | null;
}

/** What the rows of results say, to be shown beside them. */
export class ResultRows {
  readonly #datasets: Pick<DatasetService, 'find' | 'rowSizes' | 'namedRows'>;

  constructor(datasets: Pick<DatasetService, 'find' | 'rowSizes' | 'namedRows'>) {
    this.#datasets = datasets;
  }

  /** By id, of rows that are there; of a dataset that was deleted, none. @throws DomainError `unavailable` */
  beginnings(projectId: string, experiment: Experiment, rowIds: readonly string[]): ReadonlyMap<string, RowBeginning> {
    const found = new Map<string, RowBeginning>();
    if (experiment.dataset.gone) return found;
    const { roles } = this.#datasets.find(projectId, experiment.dataset.id);
    const place = placeOf(experiment);
    for (const [id, bytes] of this.#datasets.rowSizes(place, rowIds)) {
      // One at a time: together they may be large.
      const content = this.#datasets.namedRows(place, [id]).get(id);
      if (content !== undefined) found.set(id, beginningOf(content, bytes, roles));
    }
    return found;
  }
}

function beginningOf(content: string, bytes: number, roles: Parameters<typeof partsOf>[1]): RowBeginning {
  if (bytes > MAX_READ_BYTES) return { input_data: content.slice(0, MAX_BEGINNING), expected: null };
  const { input, expected } = partsOf(JSON.parse(content) as Readonly<Record<string, unknown>>, roles);
  return { input_data: textOf(input), expected: textOf(expected) };
}

/** A text alone is shown as it is, all else as JSON. */
function textOf(columns: Readonly<Record<string, unknown>>): string | null {
  const values = Object.values(columns);
  if (values.length === 0) return null;
  const value = values.length === 1 ? values[0] : columns;
  return (typeof value === 'string' ? value : JSON.stringify(value)).slice(0, MAX_BEGINNING);
}
