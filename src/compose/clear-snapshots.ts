import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { SHADOW } from '../engine/traces/backup/span-snapshots.js';
import { ENGINE_DIRECTORY } from './directories.js';

/** The folder in `DATA_DIR` of what a snapshot copies. */
export const COPIES = 'snapshot';

/** Removes all that a snapshot holds in `DATA_DIR`, also one of a server that was killed. */
export async function clearSnapshots(dataDir: string): Promise<void> {
  await rm(join(dataDir, COPIES), { recursive: true, force: true });
  await clearFrozen(dataDir);
}

/** Removes the hard links to parts, which keep merged ones on the disk. */
export async function clearFrozen(dataDir: string): Promise<void> {
  await rm(join(dataDir, ENGINE_DIRECTORY, SHADOW), { recursive: true, force: true });
}
