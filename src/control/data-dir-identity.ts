import { stat } from 'node:fs/promises';

/**
 * What tells one folder of this machine from another, also from a copy of it: commands and server compare it, as the file
 * that says where a server listens may have been copied with the folder. Empty: there is no such folder.
 */
export async function dataDirIdentity(dataDir: string): Promise<string> {
  try {
    const { dev, ino } = await stat(dataDir, { bigint: true });
    return `${dev}:${ino}`;
  } catch {
    return '';
  }
}
