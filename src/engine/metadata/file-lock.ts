import BetterSqlite3 from 'better-sqlite3';

export interface FileLock {
  release(): void;
}

/**
 * The operating system's lock on a file, held through SQLite, which knows how to do that on every platform: it ends with
 * the process however that ends, `kill -9` included.
 * @returns null when another process (or someone else in this one) holds it
 */
export function lockFile(path: string): FileLock | null {
  const file = new BetterSqlite3(path, { timeout: 0 });
  try {
    // A rollback journal on disk would outlive a kill; there is nothing to roll back here.
    file.pragma('journal_mode = MEMORY');
    file.exec('BEGIN EXCLUSIVE');
  } catch (error) {
    file.close();
    if (error instanceof BetterSqlite3.SqliteError && error.code.startsWith('SQLITE_BUSY')) return null;
    throw error;
  }
  return { release: () => file.close() };
}
