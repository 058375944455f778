import { createHash } from 'node:crypto';
import { v5 as uuidFrom } from 'uuid';
import { DomainError, MAX_ISSUES, type Issue } from '../../../engine/errors.js';
import { sortedJson, toJsonText } from '../../../engine/json-text.js';
import { invalid } from '../../../engine/validation/validation.js';
import { MAX_COLUMN_CHARACTERS, MAX_COLUMNS, MAX_ROW_BYTES, MAX_ROWS, type NewRow } from '../dataset.js';
import { MAX_COLUMN_NAME } from '../schema.js';

/** Names the ids of rows, which are made of what the rows say where they have none. */
const NAMESPACE = '5a0c2f6e-2c5b-4d2f-9d0e-9f0f4a8c7b11';
/** Longest id of a row, in characters. */
export const MAX_ROW_ID = 200;
/** Columns that give a row its id. The first is no column of the data. */
const ID_COLUMNS = ['row_id', 'id'] as const;
/** Most bytes of the rows of one upload, as JSON. */
const MAX_UPLOAD_BYTES = 128 * 1024 * 1024;

const HASH_BYTES = 32;

/** Rows as they get from one process to another: their JSON one behind the other. */
export interface PackedRows {
  readonly columns: readonly string[];
  readonly ids: readonly string[];
  readonly contents: Uint8Array;
  /** Where each content ends. */
  readonly ends: readonly number[];
  /** 32 bytes each. */
  readonly hashes: Uint8Array;
}

/**
 * Collects rows and gives each its id: that of a column `row_id` or `id`, else one made of what it says, so that a row that
 * is sent again is the same row.
 */
export class RowSet {
  readonly #datasetId: string;
  /** Of the array of rows, in messages. */
  readonly #pointer: string;
  readonly #columns = new Set<string>();
  readonly #ids = new Map<string, number>();
  readonly #contents: Buffer[] = [];
  readonly #hashes: Buffer[] = [];
  readonly #copies = new Map<string, number>();
  readonly #issues: Issue[] = [];
  #bytes = 0;
  #seen = 0;
  #columnCharacters = 0;

  constructor(datasetId: string, pointer: string) {
    this.#datasetId = datasetId;
    this.#pointer = pointer;
  }

  /** @throws DomainError `too_large` beyond a bound */
  add(row: unknown): void {
    const index = this.#seen++;
    if (index >= MAX_ROWS) throw new DomainError('too_large', `A version can have at most ${MAX_ROWS} rows`);
    if (typeof row !== 'object' || row === null || Array.isArray(row)) {
      this.#fail(index, '', 'must be an object');
      return;
    }
    const { row_id: _rowId, ...data } = row as Record<string, unknown>;
    for (const name of Object.keys(data)) this.#column(name, index);
    const content = Buffer.from(toJsonText(data));
    if (content.length > MAX_ROW_BYTES) {
      this.#fail(index, '', `must have at most ${MAX_ROW_BYTES} bytes as JSON`);
      return;
    }
    this.#bytes += content.length;
    if (this.#bytes > MAX_UPLOAD_BYTES)
      throw new DomainError(
        'too_large',
        `The rows of one request can have at most ${MAX_UPLOAD_BYTES} bytes as JSON: merge them in parts`,
      );
    const hash = contentHash(data);
    this.#contents.push(content);
    this.#hashes.push(hash);
    this.#identify(row as Record<string, unknown>, hash, index);
  }

  /** @throws DomainError `invalid` with what is wrong with rows */
  packed(): PackedRows {
    if (this.#issues.length > 0) throw invalid(this.#issues);
    let end = 0;
    return {
      columns: [...this.#columns],
      ids: [...this.#ids.keys()],
      contents: Buffer.concat(this.#contents),
      ends: this.#contents.map(({ length }) => (end += length)),
      hashes: Buffer.concat(this.#hashes),
    };
  }

  #column(name: string, index: number): void {
    if (this.#columns.has(name)) return;
    if (name === '' || name.length > 200) {
      this.#fail(index, '', `must have column names of 1 to ${MAX_COLUMN_NAME} characters`);
      return;
    }
    this.#columnCharacters += name.length;
    if (this.#columns.size >= MAX_COLUMNS || this.#columnCharacters > MAX_COLUMN_CHARACTERS)
      throw new DomainError(
        'too_large',
        `A dataset can have at most ${MAX_COLUMNS} columns, with ${MAX_COLUMN_CHARACTERS} characters in their names together`,
      );
    this.#columns.add(name);
  }

  #identify(row: Record<string, unknown>, hash: Buffer, index: number): void {
    const column = ID_COLUMNS.find((name) => row[name] != null && row[name] !== '');
    const id = column === undefined ? this.#idOf(hash) : row[column];
    if (typeof id !== 'string' && typeof id !== 'number') {
      this.#fail(index, `/${column}`, 'must be a string or number');
      return;
    }
    const text = String(id);
    if (text.length > MAX_ROW_ID) {
      this.#fail(index, `/${column}`, `must have at most ${MAX_ROW_ID} characters`);
      return;
    }
    const first = this.#ids.get(text);
    if (first !== undefined) {
      this.#fail(index, `/${column}`, `must be unique: row ${first} has the id ${JSON.stringify(text)}, too`);
      return;
    }
    this.#ids.set(text, index);
  }

  /** Of equal rows, each gets an id of its own. */
  #idOf(hash: Buffer): string {
    const hex = hash.toString('hex');
    const copy = this.#copies.get(hex) ?? 0;
    this.#copies.set(hex, copy + 1);
    return uuidFrom(`${this.#datasetId}/${hex}/${copy}`, NAMESPACE);
  }

  #fail(index: number, at: string, detail: string): void {
    this.#issues.push({ pointer: `${this.#pointer}/${index}${at}`, detail });
    if (this.#issues.length >= MAX_ISSUES) throw invalid(this.#issues);
  }
}

/** SHA-256 of a row's JSON with the members of its objects sorted: equal rows have one. */
export function contentHash(row: Readonly<Record<string, unknown>>): Buffer {
  return createHash('sha256').update(sortedJson(row)).digest();
}

/** Rows as they were packed; their texts are made when they are asked for. */
export function unpacked({ ids, contents, ends, hashes }: PackedRows): NewRow[] {
  const bytes = Buffer.from(contents.buffer, contents.byteOffset, contents.byteLength);
  return ids.map((row_id, index) => ({
    row_id,
    bytes: (ends[index] ?? 0) - (ends[index - 1] ?? 0),
    get content() {
      return bytes.toString('utf8', ends[index - 1] ?? 0, ends[index]);
    },
    hash: Buffer.from(hashes.buffer, hashes.byteOffset + index * HASH_BYTES, HASH_BYTES),
  }));
}
