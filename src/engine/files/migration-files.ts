import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DomainError } from '../errors.js';
import { schemaDirectory } from './schema-files.js';

export type MigrationErrorKind =
  | 'newer_database' // written by a later version of the program
  | 'changed_file' // a file that was applied has been edited or removed
  | 'bad_file' // wrong name, a gap or a duplicate in the numbers
  | 'failed'; // its SQL did not run; nothing of it was kept

/** The schema cannot be brought up to date. The message is fit to print before exiting with 1. */
export class MigrationError extends Error {
  readonly kind: MigrationErrorKind;

  constructor(kind: MigrationErrorKind, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'MigrationError';
    this.kind = kind;
  }
}

/** The file beside migrations with the schema that they add up to: generated for readers, and no migration. */
export const CURRENT_SCHEMA = 'current.sql';

/** One file `NNNN_name.sql`. */
export interface MigrationFile {
  readonly version: number;
  readonly name: string;
  readonly sql: string;
  /** SHA-256 of the text with `\n` line ends, hexadecimal. */
  readonly checksum: string;
}

/** A migration as the store remembers it. */
export interface AppliedMigration {
  readonly version: number;
  readonly name: string;
  readonly checksum: string;
}

/**
 * The migrations of a folder, in order.
 * @throws MigrationError `bad_file` unless they are numbered 1, 2, 3 …
 */
export function readMigrationFiles(directory: string): MigrationFile[] {
  const names = readdirSync(directory)
    .filter((name) => name.endsWith('.sql') && name !== CURRENT_SCHEMA)
    .sort();
  return names.map((file, index) => {
    const match = /^(\d{4})_([a-z0-9_]+)\.sql$/.exec(file);
    if (match === null)
      throw new MigrationError('bad_file', `${join(directory, file)}: the name must be NNNN_name.sql`);
    const version = Number(match[1]);
    if (version !== index + 1) {
      throw new MigrationError('bad_file', `${join(directory, file)}: expected number ${index + 1} next`);
    }
    const sql = readFileSync(join(directory, file), 'utf8').replaceAll('\r\n', '\n');
    return { version, name: match[2] ?? '', sql, checksum: createHash('sha256').update(sql).digest('hex') };
  });
}

/**
 * @throws MigrationError `newer_database` or `changed_file` unless what was applied is a beginning of what is there.
 */
export function verifyApplied(applied: readonly AppliedMigration[], files: readonly MigrationFile[]): void {
  const newest = files.length;
  const found = applied.at(-1)?.version ?? 0;
  if (found > newest) {
    throw new MigrationError(
      'newer_database',
      `The store has schema version ${found}, but this program supports up to ${newest}: start the newer program, or restore a backup`,
    );
  }
  for (const { version, name, checksum } of applied) {
    const file = files[version - 1];
    if (file?.checksum !== checksum) {
      throw new MigrationError(
        'changed_file',
        `Migration ${version} (${name}) was applied with different content than its file has now: migrations are append-only`,
      );
    }
  }
}

/**
 * For readers that must not migrate the store.
 * @throws DomainError `conflict` when it is of an older program; else as {@link verifyApplied}
 */
export function requireAll(applied: readonly AppliedMigration[], store: 'SQLite' | 'ClickHouse'): void {
  const files = readMigrationFiles(schemaDirectory(store === 'SQLite' ? 'sqlite' : 'clickhouse'));
  verifyApplied(applied, files);
  if (applied.length < files.length)
    throw new DomainError(
      'conflict',
      `This data is from an older version of Spanhouse (${store} has schema ${applied.length} of ${files.length}): ` +
        'check it with that version, or start the server once to upgrade it',
    );
}
