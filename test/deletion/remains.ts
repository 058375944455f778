import { join } from 'node:path';
import BetterSqlite3 from 'better-sqlite3';
import { DATABASE_FILE } from '../../src/storage/sqlite/database.js';

/** Every row of every table of the SQLite file, as text: what is not in it is not in the file's tables. */
export function everythingIn(dataDir: string): string {
  const database = new BetterSqlite3(join(dataDir, DATABASE_FILE), { readonly: true });
  try {
    return tablesOf(database)
      .flatMap((table) =>
        database
          .prepare(`SELECT * FROM "${table}"`)
          .all()
          .map((row) => rowText(table, row as object)),
      )
      .join('\n');
  } finally {
    database.close();
  }
}

function tablesOf(database: BetterSqlite3.Database): string[] {
  return database.prepare<[], string>("SELECT name FROM sqlite_master WHERE type = 'table'").pluck().all();
}

function rowText(table: string, row: object): string {
  return `${table} ${JSON.stringify(row, (_key, value: unknown) => (value instanceof Uint8Array ? '(bytes)' : value))}`;
}

/** The rows that hold one of these texts, for a message that says where. */
export function rowsHolding(dataDir: string, texts: readonly string[]): string[] {
  return everythingIn(dataDir)
    .split('\n')
    .filter((row) => texts.some((text) => row.includes(text)))
    .map((row) => row.slice(0, 300));
}
