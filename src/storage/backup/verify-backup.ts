import { createReadStream } from 'node:fs';
import pLimit from 'p-limit';
import { contentsOf, type Manifest } from '../../domain/backup/manifest.js';
import type { BackupFolder } from './backup-folder.js';
import { hashOf } from './hashed-copy.js';

const FILES_AT_ONCE = 4;
/** Damaged files that are named; more would help nobody. */
const NAMED = 20;

/** Reads every content of a backup. @returns sentences about what is damaged or missing, none when all is well */
export async function verifyBackup(
  folder: BackupFolder,
  manifest: Manifest,
  done: (bytes: number) => void,
): Promise<string[]> {
  const limit = pLimit(FILES_AT_ONCE);
  const problems: string[] = [];
  const names = new Map([...contentsOf(manifest)].map((content) => [content.sha256, content]));
  let read = 0;
  await Promise.all(
    [...names.values()].map(({ sha256, bytes, name }) =>
      limit(async () => {
        const path = folder.object(sha256);
        const found = await hashOf(createReadStream(path)).catch((error: unknown) => String(error));
        if (typeof found === 'string') problems.push(`${name} cannot be read: ${found}`);
        else if (found.sha256 !== sha256)
          problems.push(`${name} is damaged: ${path} (remove that file: the next backup copies it anew)`);
        read += bytes;
        done(read);
      }),
    ),
  );
  return problems.slice(0, NAMED);
}
