import { statSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import type { DiskRoom } from '../domain/project/project-storage.js';

/** The room on the disk that a path is on. */
export async function diskRoom(path: string): Promise<DiskRoom> {
  const { bavail, blocks, bsize } = await statfs(path);
  return { free: bavail * bsize, total: blocks * bsize };
}

/** Bytes of files, as far as they are there. */
export function bytesOf(paths: readonly string[]): number {
  return paths.reduce((sum, path) => sum + (statSync(path, { throwIfNoEntry: false })?.size ?? 0), 0);
}
