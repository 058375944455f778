import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { lockFile, type FileLock } from './file-lock.js';

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

/**
 * Takes `DATA_DIR` for this process.
 * @throws DataDirLockedError at once when another process (or another server in this one) holds it.
 */
export function lockDataDir(dataDir: string): FileLock {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const holderFile = join(dataDir, 'spanhouse.pid');
  const lock = lockFile(join(dataDir, 'spanhouse.lock'));
  if (lock === null) throw new DataDirLockedError(dataDir, readHolder(holderFile));
  writeFileSync(holderFile, `${process.pid}\n`);
  return lock;
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
