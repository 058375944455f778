import { DomainError } from '../../engine/errors.js';
import { MAX_DATASETS } from '../../features/datasets/dataset.js';
import type { LangsmithDatasets } from './dataset-routes.js';
import { toExampleRead, type ExampleRead } from './examples.js';

/** Most rows of which is remembered where they are, over all projects. */
const MAX_PLACES = 10_000;

/** Finds rows by their ids alone, in the newest versions of all datasets. */
export class ExampleFinder {
  readonly #datasets: LangsmithDatasets;
  /** Datasets of rows that were written or found: clients read what they have just written. */
  readonly #places = new Map<string, string>();

  constructor(datasets: LangsmithDatasets) {
    this.#datasets = datasets;
  }

  note(projectId: string, id: string, datasetId: string): void {
    if (this.#places.size >= MAX_PLACES) this.#places.clear();
    this.#places.set(`${projectId}/${id}`, datasetId);
  }

  /** @throws DomainError `not_found` */
  find(projectId: string, id: string): ExampleRead {
    const [found] = this.existing(projectId, id);
    if (found === undefined) throw new DomainError('not_found', 'There is no example with this id');
    return found;
  }

  existing(projectId: string, id: string): ExampleRead[] {
    const place = this.#places.get(`${projectId}/${id}`);
    const all = this.#datasets.list(projectId, '', { limit: MAX_DATASETS, offset: 0 }).datasets;
    for (const dataset of [...all.filter((each) => each.id === place), ...all]) {
      const version = this.#datasets.newest(dataset);
      if (version === null) continue;
      const content = this.#datasets.namedRows({ id: dataset.id, number: version.number }, [id]).get(id);
      if (content === undefined) continue;
      this.note(projectId, id, dataset.id);
      return [toExampleRead({ projectId, dataset, version }, { row_id: id, content })];
    }
    return [];
  }
}
