import { existsSync } from 'node:fs';
import { mkdir, open, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { DomainError } from '../../../engine/errors.js';
import { syncFolder } from '../../../engine/files/sync-folder.js';

/** Lies in a `DATA_DIR` while a backup is being restored to it. */
const MARK = 'restore-unfinished';
/** What taking the lock of an empty `DATA_DIR` makes, and what a file system has at its top: a volume of its own is empty with it. */
const NOT_OURS = ['spanhouse.lock', 'spanhouse.pid', 'lost+found'];

/** @throws DomainError `conflict` where a restore was interrupted: what is there is not all of it */
export function requireRestored(dataDir: string): void {
  if (existsSync(join(dataDir, MARK)))
    throw new DomainError(
      'conflict',
      `A restore into ${dataDir} was interrupted: run it again (npm run admin -- restore), or remove the folder`,
    );
}

/**
 * Begins a restore into a folder, which has to be empty; what a restore that was interrupted left there is removed.
 * @returns whether there was such a restore
 * @throws DomainError `conflict` where anything else lies
 */
export async function beginRestore(dataDir: string): Promise<boolean> {
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  const cutOff = existsSync(join(dataDir, MARK));
  const there = (await readdir(dataDir)).filter((name) => name !== MARK && !NOT_OURS.includes(name));
  if (there.length > 0 && !cutOff)
    throw new DomainError(
      'conflict',
      `${dataDir} is not empty: restore a backup into an empty or new folder (DATA_DIR)`,
    );
  for (const name of there) await rm(join(dataDir, name), { recursive: true, force: true });
  const mark = await open(join(dataDir, MARK), 'w', 0o600);
  await mark.sync();
  await mark.close();
  await syncFolder(dataDir);
  return cutOff;
}

/** From here on a server may start on it. */
export async function endRestore(dataDir: string): Promise<void> {
  await syncFolder(dataDir);
  await rm(join(dataDir, MARK));
  await syncFolder(dataDir);
}
