import { DatasetService } from '../features/datasets/dataset-service.js';
import { DatasetDownloads } from '../features/datasets/downloads.js';
import { SpanRows } from '../features/datasets/span-rows.js';
import type { Context } from './context.js';
import { DatasetFiles } from './dataset-files.js';
import type { Storage } from './storage.js';

export interface Datasets {
  readonly datasets: DatasetService;
  readonly datasetDownloads: DatasetDownloads;
  readonly spanRows: SpanRows;
}

/** Opens datasets, and goes on with the removal of those that were deleted. */
export function openDatasets({ closers, events }: Context, { metadata, traces, watermark }: Storage): Datasets {
  const files = new DatasetFiles();
  closers.push(() => files.close());
  const datasets = new DatasetService({
    datasets: metadata.datasets,
    rows: metadata.datasetRows,
    staging: metadata.datasetStaging,
    requireSpace: () => watermark.requireSpace(),
    observer: events,
    readUpload: async (projectId, upload) => (await files.run(projectId, { kind: 'read', upload })).upload,
  });
  closers.push(() => datasets.close());
  datasets.resume();
  const datasetDownloads = new DatasetDownloads(
    datasets,
    async (projectId, table) => (await files.run(projectId, { kind: 'write', table })).bytes,
  );
  const lastDeletion = () => metadata.lastDeletion();
  const spanRows = new SpanRows({ datasets, lists: traces.lists, expected: metadata.expectedOutputs, lastDeletion });
  return { datasets, datasetDownloads, spanRows };
}
