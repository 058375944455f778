import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import BetterSqlite3 from 'better-sqlite3';

/** Another process works on this `DATA_DIR`. The message is fit to print before exiting with 1. */
export class DataDirLockedError extends Error {
  readonly dataDir: string;

  constructor(dataDir: string, holder: string | null) {
    super(
      `DATA_DIR ${dataDir} is in use by another Spanhouse process${holder === null ? '' : ` (process id ${holder})`}. ` +
        'Stop it, or set DATA_DIR and PORT to run a second one.',
    );
    this.name = 'DataDirLockedError';
    this.dataDir = dataDir;
  }
}

export interface DataDirLock {
  release(): void;
}

/**
 * Takes `DATA_DIR` for this process. The lock is the operating system's lock on a file (held through SQLite, which
 * knows how to do that on every platform), so it ends with the process however that ends, `kill -9` included.
 * @throws DataDirLockedError at once when another process (or another server in this one) holds it.
 */
export function lockDataDir(dataDir: string): DataDirLock {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const holderFile = join(dataDir, 'spanhouse.pid');
  const file = new BetterSqlite3(join(dataDir, 'spanhouse.lock'), { timeout: 0 });
  try {
    // A rollback journal on disk would outlive a kill; there is nothing to roll back here.
    file.pragma('journal_mode = MEMORY');
    file.exec('BEGIN EXCLUSIVE');
  } catch (error) {
    file.close();
    if (error instanceof BetterSqlite3.SqliteError && error.code.startsWith('SQLITE_BUSY')) {
      throw new DataDirLockedError(dataDir, readHolder(holderFile));
    }
    throw error;
  }
  writeFileSync(holderFile, `${process.pid}\n`);
  return { release: () => file.close() };
}

/** The process that holds the lock, only for the message: the lock does not depend on it. */
function readHolder(holderFile: string): string | null {
  try {
    const text = readFileSync(holderFile, 'utf8').trim();
    return /^\d+$/.test(text) ? text : null;
  } catch {
    return null;
  }
}
