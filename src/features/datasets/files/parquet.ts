import * as zlib from 'node:zlib';
import { parquetMetadata, parquetReadObjects, snappyUncompress, type AsyncBuffer, type Compressors } from 'hyparquet';
import { ByteWriter, parquetWrite, type ColumnSource } from 'hyparquet-writer';
import { DomainError } from '../../../engine/errors.js';
import { MAX_ROWS } from '../dataset.js';

/** Most bytes of one page, and of all pages, unpacked. */
const MAX_PAGE_BYTES = 256 * 1024 * 1024;
const MAX_BYTES = 512 * 1024 * 1024;
/** Most values of all columns: lists have several in a row. */
const MAX_VALUES = 10_000_000;

/**
 * Rows of a Parquet file, as objects that JSON can say: integers that JavaScript does not read exactly as texts, times in ISO 8601,
 * bytes in Base64.
 * @throws DomainError `malformed`; `too_large` where it says that it unpacks to very much
 */
export async function readParquet(bytes: Uint8Array): Promise<unknown[]> {
  const file = new Uint8Array(bytes).buffer;
  try {
    const metadata = parquetMetadata(file);
    const columns = metadata.row_groups.flatMap(({ columns }) => columns.flatMap(({ meta_data }) => meta_data ?? []));
    const sum = (of: (column: (typeof columns)[number]) => bigint) =>
      columns.reduce((total, column) => total + of(column), 0n);
    if (metadata.num_rows > MAX_ROWS) throw new DomainError('too_large', `A version can have at most ${MAX_ROWS} rows`);
    if (sum((column) => column.num_values) > MAX_VALUES || sum((column) => column.total_uncompressed_size) > MAX_BYTES)
      throw tooLarge();
    const rows = await parquetReadObjects({ file: inMemory(file), metadata, compressors: bounded() });
    return rows.map((row) => plain(row));
  } catch (error) {
    if (error instanceof DomainError) throw error;
    throw new DomainError('malformed', 'Invalid or unsupported Parquet file', { cause: error });
  }
}

/** A Parquet file of rows: texts and numbers in columns of their kind, anything else as JSON. */
export async function writeParquet(
  columns: readonly string[],
  rows: readonly Readonly<Record<string, unknown>>[],
): Promise<Buffer> {
  const columnData: ColumnSource[] = columns.map((name) =>
    column(
      name,
      rows.map((row) => row[name] ?? null),
    ),
  );
  const writer = new ByteWriter();
  await parquetWrite({ writer, columnData });
  return Buffer.from(writer.getBytes());
}

function column(name: string, data: readonly unknown[]): ColumnSource {
  const isAll = (type: string) => data.every((value) => value === null || typeof value === type);
  if (isAll('boolean')) return { name, data: [...data], type: 'BOOLEAN', nullable: true };
  if (isAll('number')) return { name, data: [...data], type: 'DOUBLE', nullable: true };
  const texts = data.map((value) => (value === null || typeof value === 'string' ? value : JSON.stringify(value)));
  return { name, data: texts, type: 'STRING', nullable: true };
}

const tooLarge = () =>
  new DomainError('too_large', 'The Parquet file has too many values, or unpacks to too many bytes: send it in parts');

function inMemory(file: ArrayBuffer): AsyncBuffer {
  return { byteLength: file.byteLength, slice: (start, end) => file.slice(start, end) };
}

/** Decompressors that stop at what a page may have. @param maxBytes of all pages */
export function bounded(maxBytes = MAX_BYTES): Compressors {
  let left = maxBytes;
  const within = (unpack: (input: Uint8Array, length: number) => Uint8Array) => (input: Uint8Array, length: number) => {
    left -= length;
    if (length > MAX_PAGE_BYTES || left < 0) throw tooLarge();
    return unpack(input, length);
  };
  return {
    SNAPPY: within((input, length) => {
      const output = new Uint8Array(length);
      snappyUncompress(input, output);
      return output;
    }),
    GZIP: within((input, maxOutputLength) => zlib.gunzipSync(input, { maxOutputLength })),
    BROTLI: within((input, maxOutputLength) => zlib.brotliDecompressSync(input, { maxOutputLength })),
    // From Node 22.15 on.
    ...('zstdDecompressSync' in zlib && {
      ZSTD: within((input, maxOutputLength) => zlib.zstdDecompressSync(input, { maxOutputLength })),
    }),
  };
}

/** Values nested deeper could be exported, and not imported again. */
const MAX_DEPTH = 100;

/** A value as JSON can say it. */
export function plain(value: unknown, depth = 0): unknown {
  if (depth > MAX_DEPTH) throw new DomainError('malformed', `Values are nested deeper than ${MAX_DEPTH} levels`);
  if (typeof value === 'bigint') return Number.isSafeInteger(Number(value)) ? Number(value) : String(value);
  if (typeof value === 'number') return Number.isFinite(value) ? value : null;
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? null : value.toISOString();
  if (ArrayBuffer.isView(value)) {
    if (value instanceof Uint8Array)
      return Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('base64');
    return Array.from(value as Float64Array, (member) => plain(member, depth + 1));
  }
  if (Array.isArray(value)) return value.map((member) => plain(member, depth + 1));
  if (typeof value !== 'object' || value === null) return value ?? null;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, plain(member, depth + 1)]));
}
