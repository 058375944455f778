import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import BetterSqlite3 from 'better-sqlite3';
import { DATABASE_FILE } from '../../src/engine/metadata/database.js';

/** The rows of the SQLite file that hold one of these texts, for a message that says where. */
export function rowsHolding(dataDir: string, texts: readonly string[]): string[] {
  const database = opened(dataDir);
  try {
    return rowsOf(database, texts);
  } finally {
    database.close();
  }
}

/** Waits until no row of the SQLite file holds one of these texts any more. */
export async function untilGone(dataDir: string, texts: readonly string[], withinMs = 120_000): Promise<void> {
  const database = opened(dataDir);
  const until = performance.now() + withinMs;
  try {
    for (let looked: unknown; ;) {
      // It changes with whatever another connection commits: every row is read again only then.
      const version = database.pragma('data_version', { simple: true });
      const late = performance.now() > until;
      if (version !== looked || late) {
        const rows = rowsOf(database, texts);
        if (rows.length === 0) return;
        if (late) throw new Error(`Not gone within ${withinMs} ms:\n${rows.join('\n')}`);
      }
      looked = version;
      await sleep(20);
    }
  } finally {
    database.close();
  }
}

function opened(dataDir: string): BetterSqlite3.Database {
  return new BetterSqlite3(join(dataDir, DATABASE_FILE), { readonly: true });
}

/** The audit log says which spans were deleted, and that of the server which projects: it is to. */
const NAMED_FOR_GOOD: Readonly<Record<string, string>> = {
  audit:
    " WHERE project_id IS NOT NULL AND action NOT IN ('span.delete', 'trace.delete', 'session.delete', 'project.delete')",
};

/** Every row of every table, as text: what is not in it is not in the file's tables. */
function rowsOf(database: BetterSqlite3.Database, texts: readonly string[]): string[] {
  return tablesOf(database)
    .flatMap((table) =>
      database
        .prepare(`SELECT * FROM "${table}"${NAMED_FOR_GOOD[table] ?? ''}`)
        .all()
        .map((row) => rowText(table, row as object)),
    )
    .filter((row) => texts.some((text) => row.includes(text)))
    .map((row) => row.slice(0, 300));
}

function tablesOf(database: BetterSqlite3.Database): string[] {
  return database.prepare<[], string>("SELECT name FROM sqlite_master WHERE type = 'table'").pluck().all();
}

function rowText(table: string, row: object): string {
  return `${table} ${JSON.stringify(row, (_key, value: unknown) => (value instanceof Uint8Array ? '(bytes)' : value))}`;
}
