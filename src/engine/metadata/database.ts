import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import BetterSqlite3 from 'better-sqlite3';
import { DomainError } from '../errors.js';
import { LateDatabase } from './late-statements.js';

export type Database = BetterSqlite3.Database;

/** Name of the metadata file inside `DATA_DIR`. */
export const DATABASE_FILE = 'spanhouse.sqlite';

/** A writer in another process (`npm run admin`) is waited for this long; the event loop stands still meanwhile. */
export const BUSY_TIMEOUT_MS = 1000;

/**
 * Opens (and creates) the metadata store: what is committed survives power loss, readers never wait for the writer.
 * The caller applies the migrations and closes it.
 */
export function openDatabase(file: string): Database {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  const database = new LateDatabase(file, { timeout: BUSY_TIMEOUT_MS });
  try {
    database.pragma('journal_mode = WAL');
    database.pragma('synchronous = FULL');
    database.pragma('foreign_keys = ON');
    // What is deleted is overwritten, rather than left in pages that are free.
    database.pragma('secure_delete = ON');
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

/** Writes what the write-ahead log holds to its place, and empties it. @throws DomainError `unavailable` while someone reads there */
export function emptyLog(database: Database): void {
  const [outcome] = guarded(() => database.pragma('wal_checkpoint(TRUNCATE)')) as { readonly busy: 0 | 1 }[];
  if (outcome?.busy === 1)
    throw new DomainError('unavailable', 'Cannot truncate the SQLite log: another process is reading the file', {
      retryAfterSeconds: 1,
    });
}

/**
 * Runs store work and turns what SQLite says about its own state (locked, full, unreadable) into
 * `DomainError('unavailable')`, and a row that names what is not there into `not_found`: it was deleted since it was looked
 * for. Anything else, such as a broken constraint, is passed on.
 */
export function guarded<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (
      error instanceof BetterSqlite3.SqliteError &&
      /^SQLITE_(BUSY|LOCKED|FULL|IOERR|CANTOPEN|READONLY)/.test(error.code)
    ) {
      throw new DomainError('unavailable', 'The metadata store does not respond', {
        retryAfterSeconds: 1,
        cause: error,
      });
    }
    if (error instanceof BetterSqlite3.SqliteError && error.code === 'SQLITE_CONSTRAINT_FOREIGNKEY')
      throw new DomainError(
        'not_found',
        'The project, prompt, judge or span that this belongs to was deleted in the meantime',
        { cause: error },
      );
    throw error;
  }
}

/** {@link guarded} work as one transaction, which takes the right to write at once. */
export function transact<T>(database: Database, work: () => T): T {
  return guarded(() => database.transaction(work).immediate());
}

/** A store whose services keep what they read until another process has written. */
export abstract class WatchedStore<Statements> {
  protected readonly db: Database;
  protected readonly statements: Statements;
  readonly #dataVersion;

  protected constructor(db: Database, prepare: (db: Database) => Statements) {
    this.db = db;
    this.statements = prepare(db);
    this.#dataVersion = db.prepare<[], number>('PRAGMA data_version').pluck();
  }

  /** Changes when another process has written anything since the last call. */
  changeCounter(): number {
    return guarded(() => this.#dataVersion.get() ?? 0);
  }
}

/** True for the violation of a UNIQUE or PRIMARY KEY constraint. */
export function isDuplicate(error: unknown): boolean {
  return (
    error instanceof BetterSqlite3.SqliteError &&
    (error.code === 'SQLITE_CONSTRAINT_UNIQUE' || error.code === 'SQLITE_CONSTRAINT_PRIMARYKEY')
  );
}
