import { parentPort } from 'node:worker_threads';
import type { ParquetTable } from '../features/datasets/downloads.js';
import { writeParquet } from '../features/datasets/files/parquet.js';
import { readUpload, type ReadUpload, type UploadTask } from '../features/datasets/files/read-upload.js';
import { parseJson } from '../http/wire/json.js';
import { sent, type SentError } from './sent-error.js';
import { movable } from './threads.js';

/* A thread that reads files of datasets and makes them, one message each. */

export type DatasetTask =
  { readonly kind: 'read'; readonly upload: UploadTask } | { readonly kind: 'write'; readonly table: ParquetTable };

export type DatasetOutcome =
  | { readonly outcome: 'read'; readonly upload: ReadUpload }
  | { readonly outcome: 'written'; readonly bytes: Uint8Array }
  | { readonly outcome: 'refused'; readonly error: SentError };

parentPort?.on('message', (task: DatasetTask) => {
  void outcomeOf(task).then(({ moved, ...outcome }) => {
    parentPort?.postMessage(outcome, moved);
  });
});

async function outcomeOf(task: DatasetTask): Promise<DatasetOutcome & { readonly moved: ArrayBuffer[] }> {
  try {
    if (task.kind === 'write') {
      const bytes = movable(await written(task.table));
      return { outcome: 'written', bytes, moved: [bytes.buffer] };
    }
    const { options, rows } = await readUpload(task.upload, parseJson);
    const [contents, hashes] = [movable(rows.contents), movable(rows.hashes)];
    const upload = { options, rows: { ...rows, contents, hashes } };
    return { outcome: 'read', upload, moved: [contents.buffer, hashes.buffer] };
  } catch (error) {
    return { outcome: 'refused', error: sent(error), moved: [] };
  }
}

function written({ columns, lines }: ParquetTable): Promise<Buffer> {
  const text = Buffer.from(lines.buffer, lines.byteOffset, lines.byteLength).toString();
  const rows = text === '' ? [] : text.split('\n').map((line) => JSON.parse(line) as Record<string, unknown>);
  return writeParquet(columns, rows);
}
