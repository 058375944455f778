import { existsSync, statSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Disk, DiskRoom } from './disk.js';

/** A folder that data is kept in; it need not be there yet. */
export interface DataFolder extends Pick<Disk, 'name' | 'holds'> {
  readonly path: string;
}

/** The room on the disk that a path is on. */
export async function diskRoom(path: string): Promise<DiskRoom> {
  const { bavail, blocks, bsize } = await statfs(path);
  return { free: bavail * bsize, total: blocks * bsize };
}

/** Folders on different disks: the first of each disk, which holds what the others on it do. */
export function onDifferentDisks(folders: readonly DataFolder[]): DataFolder[] {
  const byDevice = new Map<number, DataFolder>();
  for (const folder of folders) {
    const path = existing(folder.path);
    const { dev } = statSync(path);
    const known = byDevice.get(dev) ?? { ...folder, path, holds: [] };
    byDevice.set(dev, { ...known, holds: [...known.holds, ...folder.holds] });
  }
  return [...byDevice.values()];
}

/** Bytes of files, as far as they are there. */
export function bytesOf(paths: readonly string[]): number {
  return paths.reduce((sum, path) => sum + (statSync(path, { throwIfNoEntry: false })?.size ?? 0), 0);
}

/** Where a folder will be made, if it is not there. */
function existing(path: string): string {
  return existsSync(path) ? path : existing(dirname(path));
}
