import pLimit from 'p-limit';
import { contentsOf, type Manifest } from '../../../engine/traces/model/backup/manifest.js';
import { DomainError } from '../../../engine/errors.js';
import type { Backups } from './backups.js';
import { hashOf, type Content } from './hashed-copy.js';
import { inPortions } from './in-portions.js';

const FILES_AT_ONCE = 8;
/** Damaged files that are named; more would help no one. */
const NAMED = 20;

/** Reads every content of a backup. @returns sentences about what is damaged or missing, none when all is well */
export async function verifyBackup(
  backups: Backups,
  manifest: Manifest,
  done: (bytes: number) => void,
): Promise<string[]> {
  const limit = pLimit(FILES_AT_ONCE);
  const problems: string[] = [];
  const names = new Map([...contentsOf(manifest)].map((content) => [content.sha256, content]));
  let read = 0;
  await inPortions([...names.values()], limit, async ({ sha256, bytes, name }) => {
    const where = backups.where(sha256);
    const found = await contentOf(backups, sha256);
    if (typeof found === 'string') problems.push(`Cannot read ${name}: ${where} ${found}`);
    else if (found.sha256 !== sha256)
      problems.push(`${name} is damaged: ${where} (remove that file: the next backup copies it again)`);
    read += bytes;
    done(read);
  });
  return problems.slice(0, NAMED);
}

/** @returns in words why it cannot be read @throws DomainError when a bucket does not answer, which says nothing of the backup */
async function contentOf(backups: Backups, sha256: string): Promise<Content | string> {
  try {
    const source = await backups.read(sha256);
    return source === null ? 'is missing' : await hashOf(source);
  } catch (error) {
    if (error instanceof DomainError) throw error;
    return `fails with ${String(error)}`;
  }
}
