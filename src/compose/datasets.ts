import { DomainError } from '../engine/errors.js';
import { DatasetService } from '../features/datasets/dataset-service.js';
import { DatasetDownloads } from '../features/datasets/downloads.js';
import { SpanRows } from '../features/datasets/span-rows.js';
import type { Context } from './context.js';
import type { DatasetOutcome, DatasetTask } from './dataset-thread.js';
import { received } from './sent-error.js';
import type { Storage } from './storage.js';
import { movable, ThreadLostError, Threads } from './threads.js';

/** Heap of the thread that reads files of datasets: its largest rows are several times as large in memory. */
const HEAP_MB = 1_024;
const TIME_LIMIT_MS = 120_000;

export interface Datasets {
  readonly datasets: DatasetService;
  readonly datasetDownloads: DatasetDownloads;
  readonly spanRows: SpanRows;
}

/** Opens datasets, and goes on with the removal of those that were deleted. */
export function openDatasets({ closers, events }: Context, { metadata, traces, watermark }: Storage): Datasets {
  const threads = new Threads({
    what: 'dataset files',
    module: new URL('./dataset-thread.js', import.meta.url),
    count: 1,
    data: null,
    resourceLimits: { maxOldGenerationSizeMb: HEAP_MB },
    timeLimitMs: TIME_LIMIT_MS,
  });
  closers.push(() => threads.close());
  const ask = async (projectId: string, task: DatasetTask, moved: ArrayBuffer): Promise<DatasetOutcome> => {
    try {
      const askThread = await threads.take(projectId);
      const outcome = await askThread<DatasetOutcome>(task, [moved]);
      if (outcome.outcome === 'refused') throw received(outcome.error);
      return outcome;
    } catch (error) {
      throw error instanceof ThreadLostError ? lost(error) : error;
    }
  };
  const datasets = new DatasetService({
    datasets: metadata.datasets,
    rows: metadata.datasetRows,
    staging: metadata.datasetStaging,
    requireSpace: () => watermark.requireSpace(),
    observer: events,
    async readUpload(projectId, upload) {
      const bytes = movable(upload.bytes);
      const outcome = await ask(projectId, { kind: 'read', upload: { ...upload, bytes } }, bytes.buffer);
      if (outcome.outcome !== 'read') throw new Error(`Not an upload: ${outcome.outcome}`);
      return outcome.upload;
    },
  });
  closers.push(() => datasets.close());
  datasets.resume();
  const datasetDownloads = new DatasetDownloads(datasets, async (projectId, table) => {
    const lines = movable(table.lines);
    const outcome = await ask(projectId, { kind: 'write', table: { ...table, lines } }, lines.buffer);
    if (outcome.outcome !== 'written') throw new Error(`Not a file: ${outcome.outcome}`);
    return outcome.bytes;
  });
  const spanRows = new SpanRows({
    datasets,
    lists: traces.lists,
    expected: metadata.expectedOutputs,
    lastDeletion: () => metadata.lastDeletion(),
  });
  return { datasets, datasetDownloads, spanRows };
}

/** What a request is told whose thread ended. */
function lost(error: ThreadLostError): DomainError {
  return error.outOfMemory
    ? new DomainError('too_large', 'The rows need more memory than one request may use: send them in parts', {
        cause: error,
      })
    : new DomainError(
        'unavailable',
        'Reading the rows took too long, or the server is shutting down. Send them in parts.',
        {
          retryAfterSeconds: 1,
          cause: error,
        },
      );
}
