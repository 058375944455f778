import { parse as parseCsv } from 'csv-parse/sync';
import { DomainError, MAX_ISSUES } from '../../../engine/errors.js';
import { MAX_JSON_DEPTH } from '../../../engine/json-text.js';
import { compile, invalid } from '../../../engine/validation/validation.js';
import { MAX_COLUMNS, MAX_ROW_BYTES, MAX_ROWS } from '../dataset.js';
import { UploadInput, type UploadFormat } from '../schema.js';
import { RowSet, type PackedRows } from './row-set.js';

/** The body of a request that brings rows. */
export interface UploadTask {
  readonly datasetId: string;
  readonly format: UploadFormat;
  readonly bytes: Uint8Array;
}

/** What a request is about, beside its rows. */
export type UploadOptions = Omit<UploadInput, 'rows' | 'data' | 'files'>;

export interface ReadUpload {
  readonly options: UploadOptions;
  readonly rows: PackedRows;
}

/** Parses a JSON body. @throws DomainError `malformed`, `too_large` */
export type ParseJson = (bytes: Buffer, maxDepth?: number) => unknown;

/** A row stands in two more objects and lists where it is imported with its project. */
const MAX_LINE_DEPTH = MAX_JSON_DEPTH - 2;

/** Reads rows of Parquet. @throws DomainError `malformed`, `too_large` */
export type ReadParquet = (bytes: Uint8Array) => Promise<unknown[]>;

export interface UploadReaders {
  readonly parseJson: ParseJson;
  readonly readParquet: ReadParquet;
}

const validator = compile(UploadInput);

/**
 * Reads a body with rows. One that is large, or of Parquet, may take seconds: it is not for the thread that serves requests.
 * @throws DomainError `malformed`, `invalid`, `too_large`
 */
export async function readUpload(
  { datasetId, format, bytes }: UploadTask,
  readers: UploadReaders,
): Promise<ReadUpload> {
  const body = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (format !== 'json') return { options: {}, rows: packed(datasetId, '', await rowsOf(format, body, readers)) };
  const input = readers.parseJson(body);
  if (!validator.accepts(input)) throw invalid(validator.issues(input, '', MAX_ISSUES));
  const { rows, data, files, ...options } = input;
  const given = (['rows', 'data', 'files'] as const).filter((name) => input[name] != null);
  if (given.length > 1) throw invalid([{ pointer: `/${given[1]}`, detail: `cannot be given with ${given[0]}` }]);
  const named = files?.[0] == null ? (rows ?? data ?? []) : await rowsOfFile(files[0], readers);
  const read = packed(datasetId, `/${given[0] ?? 'rows'}`, named);
  const ids = new Set(read.ids);
  const both = (options.remove ?? []).findIndex((id) => ids.has(id));
  if (both !== -1)
    throw invalid([{ pointer: `/remove/${both}`, detail: 'must not be the id of a row of the request' }]);
  return { options, rows: read };
}

function packed(datasetId: string, pointer: string, rows: Iterable<unknown>): PackedRows {
  const set = new RowSet(datasetId, pointer);
  for (const row of rows) set.add(row);
  return set.packed();
}

type FileFormat = Exclude<UploadFormat, 'json'>;

const EXTENSIONS: Readonly<Record<string, FileFormat>> = {
  parquet: 'parquet',
  csv: 'csv',
  jsonl: 'jsonl',
  ndjson: 'jsonl',
};

async function rowsOfFile(file: NonNullable<NonNullable<UploadInput['files']>[0]>, readers: UploadReaders) {
  const format = EXTENSIONS[file.path.split('.').at(-1) ?? ''];
  if (format === undefined)
    throw invalid([
      {
        pointer: '/files/0/path',
        detail: `must end in ${Object.keys(EXTENSIONS)
          .map((name) => `.${name}`)
          .join(', ')}`,
      },
    ]);
  return rowsOf(format, Buffer.from(file.content_base64, 'base64'), readers);
}

async function rowsOf(
  format: FileFormat,
  bytes: Buffer,
  { parseJson, readParquet }: UploadReaders,
): Promise<Iterable<unknown>> {
  switch (format) {
    case 'csv':
      return csvRows(bytes);
    case 'jsonl':
      return jsonLines(bytes, parseJson);
    case 'parquet':
      return readParquet(bytes);
  }
}

function* jsonLines(bytes: Buffer, parseJson: ParseJson): Iterable<unknown> {
  for (let from = 0, line = 1; from < bytes.length; line += 1) {
    const end = bytes.indexOf(0x0a, from);
    const text = bytes.subarray(from, end === -1 ? bytes.length : end);
    from += text.length + 1;
    if (text.toString('latin1').trim() === '') continue;
    try {
      yield parseJson(text, MAX_LINE_DEPTH);
    } catch (error) {
      if (!(error instanceof DomainError)) throw error;
      throw new DomainError(error.kind, `Line ${line}: ${error.message}`, { cause: error });
    }
  }
}

/** Blank lines are no rows, and cost the parser as much: a file may have as many as rows. */
const MAX_BLANK_LINES = MAX_ROWS;
const [QUOTE, LINE_FEED, CARRIAGE_RETURN] = [0x22, 0x0a, 0x0d];

/** @throws DomainError `too_large` */
function requireFewBlankLines(bytes: Buffer): void {
  let [blank, isQuoted, isEmpty] = [0, false, true];
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at];
    if (byte === QUOTE) isQuoted = !isQuoted;
    if (byte !== LINE_FEED && byte !== CARRIAGE_RETURN) isEmpty = false;
    else if (byte === CARRIAGE_RETURN || bytes[at - 1] !== CARRIAGE_RETURN) {
      if (isEmpty && !isQuoted) blank += 1;
      isEmpty = true;
    }
  }
  if (blank > MAX_BLANK_LINES)
    throw new DomainError('too_large', `A CSV file can have at most ${MAX_BLANK_LINES} blank lines`);
}

/** Rows of CSV whose first line has the names of the columns. Values stay texts. */
function csvRows(bytes: Buffer): unknown[] {
  requireFewBlankLines(bytes);
  try {
    return parseCsv<Record<string, string>>(bytes, {
      bom: true,
      columns: (names: string[]) => {
        if (names.length > MAX_COLUMNS)
          throw new DomainError('too_large', `A dataset can have at most ${MAX_COLUMNS} columns`);
        return names;
      },
      skip_empty_lines: true,
      max_record_size: MAX_ROW_BYTES,
    });
  } catch (error) {
    if (error instanceof DomainError) throw error;
    const why = error instanceof Error ? `: ${error.message.slice(0, 300)}` : '';
    throw new DomainError('malformed', `The file is not CSV that can be read${why}`, { cause: error });
  }
}
