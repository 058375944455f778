import { asyncBufferFromFile, parquetMetadataAsync, parquetReadObjects } from 'hyparquet';
import { bounded, plain } from '../../src/features/datasets/files/parquet.js';
import { ImportError } from './import-error.js';
import { isMembers, type Members } from './members.js';

/** Rows that are read together: they are all that is in memory, with the groups of rows that hold them. */
const ROWS_AT_ONCE = 5000;
/** Most bytes of a group of rows, unpacked. */
const MAX_GROUP_BYTES = 1024 * 1024 * 1024;

/** A row, and the number of the next one. */
export interface Row {
  readonly values: Members;
  readonly next: number;
}

/** The rows of a Parquet file from one on, as objects that JSON can say. @throws ImportError when it is none */
export async function* rowsOf(path: string, from: number): AsyncGenerator<Row> {
  const file = await asyncBufferFromFile(path);
  try {
    const metadata = await parquetMetadataAsync(file);
    if (metadata.row_groups.some(({ total_byte_size }) => Number(total_byte_size) > MAX_GROUP_BYTES))
      throw new ImportError(`${path} has groups of rows of more than ${MAX_GROUP_BYTES} bytes`);
    const rows = Number(metadata.num_rows);
    for (let rowStart = from; rowStart < rows; rowStart += ROWS_AT_ONCE) {
      const rowEnd = Math.min(rows, rowStart + ROWS_AT_ONCE);
      const found = await parquetReadObjects({
        file,
        metadata,
        rowStart,
        rowEnd,
        compressors: bounded(MAX_GROUP_BYTES),
      });
      for (const [index, row] of found.entries()) {
        const values = plain(row);
        yield { values: isMembers(values) ? values : {}, next: rowStart + index + 1 };
      }
    }
  } catch (error) {
    if (error instanceof ImportError) throw error;
    throw new ImportError(`${path} is no Parquet file that can be read: ${(error as Error).message}`);
  }
}
