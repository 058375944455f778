import { DatasetService } from '../features/datasets/dataset-service.js';
import { DatasetDownloads } from '../features/datasets/downloads.js';
import { SpanRows } from '../features/datasets/span-rows.js';
import { readUpload, type ReadUpload, type UploadTask } from '../features/datasets/files/read-upload.js';
import { parseJson } from '../http/wire/json.js';
import type { Context } from './context.js';
import { DatasetFiles } from './dataset-files.js';
import type { Storage } from './storage.js';

export interface Datasets {
  readonly datasets: DatasetService;
  readonly datasetDownloads: DatasetDownloads;
  readonly spanRows: SpanRows;
}

/** Opens datasets, and continues with the removal of those that were deleted. */
export function openDatasets({ closers, events }: Context, { metadata, traces, watermark, audit }: Storage): Datasets {
  const files = new DatasetFiles();
  closers.push(() => files.close());
  const datasets = new DatasetService({
    datasets: metadata.datasets,
    rows: metadata.datasetRows,
    staging: metadata.datasetStaging,
    requireSpace: () => watermark.requireSpace(),
    observer: events,
    audit,
    readUpload: async (projectId, upload) =>
      (await readHere(upload)) ?? (await files.run(projectId, { kind: 'read', upload })).upload,
  });
  closers.push(() => datasets.removal.close());
  datasets.removal.resume();
  const datasetDownloads = new DatasetDownloads(
    datasets,
    async (projectId, table) => (await files.run(projectId, { kind: 'write', table })).bytes,
  );
  const lastDeletion = () => metadata.lastDeletion();
  const spanRows = new SpanRows({ datasets, lists: traces.lists, expected: metadata.expectedOutputs, lastDeletion });
  return { datasets, datasetDownloads, spanRows };
}

/** Bodies up to this size are read in the server: a process takes a hundred times as long to start. */
const READ_HERE_BYTES = 64 * 1024;

class IsParquetError extends Error {}

/** A small body without Parquet, which might unpack to anything; null: a process of its own must read it. @throws DomainError */
async function readHere(upload: UploadTask): Promise<ReadUpload | null> {
  if (upload.bytes.length > READ_HERE_BYTES) return null;
  const readParquet = () => Promise.reject(new IsParquetError());
  try {
    return await readUpload(upload, { parseJson, readParquet });
  } catch (error) {
    if (error instanceof IsParquetError) return null;
    throw error;
  }
}
