import { opendir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { ImportError } from './import-error.js';

export interface FoundFile {
  readonly path: string;
  readonly size: number;
}

/** Deeper folders are somebody's mistake. */
const MAX_DEPTH = 16;
const MAX_FILES = 1_000_000;

/**
 * The files that are named, and those below folders that are named, in the order of their paths.
 * @param wanted by their names, for those in folders
 * @throws ImportError when one cannot be read, or there is none
 */
export async function filesIn(paths: readonly string[], wanted: RegExp): Promise<FoundFile[]> {
  const files = new Map<string, FoundFile>();
  const add = (path: string, size: number) => {
    if (files.size === MAX_FILES) throw new ImportError(`There are more than ${MAX_FILES} files: name fewer folders`);
    files.set(path, { path, size });
  };
  const walk = async (folder: string, depth: number): Promise<void> => {
    if (depth > MAX_DEPTH) return;
    for await (const entry of await opendir(folder)) {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) await walk(path, depth + 1);
      else if (entry.isFile() && wanted.test(entry.name)) add(path, (await stat(path)).size);
    }
  };
  for (const path of paths) {
    try {
      const found = await stat(path);
      if (found.isDirectory()) await walk(path, 0);
      else add(path, found.size);
    } catch (error) {
      if (error instanceof ImportError) throw error;
      throw new ImportError(`${path} cannot be read: ${(error as Error).message}`);
    }
  }
  if (files.size === 0) throw new ImportError(`There is nothing to import in ${paths.join(', ')}`);
  return [...files.values()].sort((one, other) => (one.path < other.path ? -1 : 1));
}
