import { DomainError } from '../../engine/errors.js';
import type { DatasetRow } from '../../features/datasets/dataset.js';
import type { LangsmithDatasets } from './dataset-routes.js';
import type { RowOf } from './examples.js';

/** A row, and where it is. */
export interface FoundExample {
  readonly place: RowOf;
  readonly row: Pick<DatasetRow, 'row_id' | 'content'>;
}

/** Finds a row by its id alone, in the newest versions of all datasets. @throws DomainError `not_found` */
export function findExample(datasets: LangsmithDatasets, projectId: string, id: string): FoundExample {
  const found = exampleIn(datasets, projectId, id);
  if (found === null) throw new DomainError('not_found', 'There is no example with this id');
  return found;
}

/** As {@link findExample}; null: there is none. */
export function exampleIn(datasets: LangsmithDatasets, projectId: string, id: string): FoundExample | null {
  const [holding] = datasets.holding(projectId, id, 1);
  if (holding === undefined) return null;
  const dataset = datasets.find(projectId, holding.id);
  const version = datasets.newest(dataset);
  const content = version && datasets.namedRows({ id: dataset.id, number: version.number }, [id]).get(id);
  if (version === null || content == null) return null;
  return { place: { projectId, dataset, version }, row: { row_id: id, content } };
}
