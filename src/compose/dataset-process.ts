import type { ParquetTable } from '../features/datasets/downloads.js';
import { readParquet, writeParquet } from '../features/datasets/files/parquet.js';
import { readUpload, type ReadUpload, type UploadTask } from '../features/datasets/files/read-upload.js';
import { parseJson } from '../http/wire/json.js';
import { sent, type SentError } from './sent-error.js';

/*
 * A process that reads a file of a dataset, or makes one, and ends. A file may unpack to more memory than there is, which ends a whole
 * process and not only a thread of it: that must not be the server's.
 */

export type DatasetTask =
  { readonly kind: 'read'; readonly upload: UploadTask } | { readonly kind: 'write'; readonly table: ParquetTable };

export type DatasetOutcome =
  | { readonly outcome: 'read'; readonly upload: ReadUpload }
  | { readonly outcome: 'written'; readonly bytes: Uint8Array }
  | { readonly outcome: 'refused'; readonly error: SentError };

process.once('message', (task: DatasetTask) => {
  void outcomeOf(task).then((outcome) => process.send?.(outcome, () => process.disconnect()));
});
// No one waits for it anymore.
process.once('disconnect', () => process.exit(0));

async function outcomeOf(task: DatasetTask): Promise<DatasetOutcome> {
  try {
    if (task.kind === 'write') return { outcome: 'written', bytes: await written(task.table) };
    return { outcome: 'read', upload: await readUpload(task.upload, { parseJson, readParquet }) };
  } catch (error) {
    return { outcome: 'refused', error: sent(error) };
  }
}

function written({ columns, lines }: ParquetTable): Promise<Buffer> {
  const text = Buffer.from(lines.buffer, lines.byteOffset, lines.byteLength).toString();
  const rows = text === '' ? [] : text.split('\n').map((line) => JSON.parse(line) as Record<string, unknown>);
  return writeParquet(columns, rows);
}
