import BetterSqlite3 from 'better-sqlite3';
import { DomainError } from '../errors.js';
import type { Database } from './database.js';

/** The metadata as of one moment, on a connection of its own, while everyone continues writing. */
export class MetadataSnapshot {
  readonly #database: Database;

  /** @param file that the metadata is in */
  constructor(file: string) {
    this.#database = new BetterSqlite3(file, { readonly: true });
  }

  /** Makes this the moment. */
  pin(): void {
    // A transaction begins with its first read.
    this.#database.exec('BEGIN');
    this.#database.prepare('SELECT count(*) FROM schema_migrations').get();
  }

  /** Lets go of the moment, to take another one. */
  unpin(): void {
    this.#database.exec('ROLLBACK');
  }

  /**
   * Copies what was there at the moment: a transaction in progress is what SQLite's backup continues with.
   * @throws DomainError `unavailable` when there is no room for it
   */
  async writeTo(file: string): Promise<void> {
    await this.#database.backup(file).catch((error: unknown) => {
      if (error instanceof BetterSqlite3.SqliteError && /^SQLITE_(FULL|IOERR)/.test(error.code))
        throw new DomainError('unavailable', 'DATA_DIR has no space for a copy of the SQLite file: free some space', {
          cause: error,
        });
      throw error;
    });
  }

  close(): void {
    this.#database.close();
  }
}

/** What a backup has to know of a copy of the metadata. */
export interface MetadataCopy {
  /** Rows of each table. */
  readonly rows: Readonly<Record<string, number>>;
  /** Fully stored images. */
  readonly images: readonly { readonly project_id: string; readonly sha256: string; readonly bytes: number }[];
}

/** Reads a copy of the metadata, and checks that it is whole. @throws Error with what SQLite says is wrong */
export function readMetadataCopy(file: string): MetadataCopy {
  const database = new BetterSqlite3(file, { readonly: true });
  try {
    const said = database.pragma('integrity_check', { simple: true });
    if (said !== 'ok') throw new Error(`The copy of the SQLite file is damaged: ${String(said)}`);
    const tables = database
      .prepare<[], string>(
        "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name",
      )
      .pluck()
      .all();
    const count = (table: string) => database.prepare<[], number>(`SELECT count(*) FROM "${table}"`).pluck().get() ?? 0;
    return {
      rows: Object.fromEntries(tables.map((table) => [table, count(table)])),
      images: database
        .prepare<[], MetadataCopy['images'][number]>(
          'SELECT project_id, sha256, bytes FROM attachments WHERE stored = 1 ORDER BY project_id, sha256',
        )
        .all(),
    };
  } finally {
    database.close();
  }
}
