import { open } from 'node:fs/promises';

/** Brings the entries of a folder to disk. Shared by all that makes or removes files which must outlive a power loss. */
export async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
