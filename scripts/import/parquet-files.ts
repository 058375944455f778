import type { FoundFile } from './files.js';
import type { Members } from './members.js';
import { rowsOf } from './parquet.js';
import type { Step } from './step.js';

/** How many rows of each file are sent. */
type Cursor = Readonly<Record<string, { readonly rows: number; readonly size: number }>>;

/** What rows become. */
export interface RowReader {
  /** @param name where the row is */
  row(row: Members, name: string): Iterable<Step>;
  /** What waits. */
  steps(): Iterable<Step> | AsyncIterable<Step>;
}

const ROWS_PER_CURSOR = 500;

/** The rows of files, from where an earlier run ended. Progress is in bytes. */
export async function* readParquetFiles(
  files: readonly FoundFile[],
  known: unknown,
  reader: RowReader,
): AsyncGenerator<Step> {
  let cursor = (known ?? {}) as Cursor;
  let before = 0;
  for (const { path, size } of files) {
    before += size;
    const { rows: from = 0, size: then = -1 } = cursor[path] ?? {};
    if (then === size) continue;
    let rows = from;
    for await (const { values, next } of rowsOf(path, from)) {
      yield* reader.row(values, `${path} row ${next}`);
      rows = next;
      if (rows % ROWS_PER_CURSOR !== 0) continue;
      yield* reader.steps();
      cursor = { ...cursor, [path]: { rows, size: -1 } };
      yield { type: 'cursor', cursor };
    }
    yield* reader.steps();
    cursor = { ...cursor, [path]: { rows, size } };
    yield { type: 'cursor', cursor };
    yield { type: 'progress', done: before };
  }
}

export const PARQUET = /\.parquet$/;

export const sizeOf = (files: readonly FoundFile[]) => ({
  total: files.reduce((sum, { size }) => sum + size, 0),
  unit: 'bytes',
});
