import { readdir } from 'node:fs/promises';
import { join, relative } from 'node:path';
import type { ImageFiles } from '../image-audit.js';
import { locationOf } from './failure.js';
import { PASSING } from './file-store.js';

/** The files below the folder of images, a folder at a time; what is being written or removed is left out. */
export function imageFiles(root: string): ImageFiles {
  return async function* () {
    for (const project of await namesIn(root)) {
      if (PASSING.includes(project)) continue;
      for (const fan of await namesIn(join(root, project))) {
        const folder = join(root, project, fan);
        yield (await namesIn(folder)).map((name) =>
          isPlace(root, project, name, join(folder, name))
            ? { project_id: project, sha256: name }
            : { unknown: relative(join(root, '..'), join(folder, name)) },
        );
      }
    }
  };
}

function isPlace(root: string, project: string, name: string, path: string): boolean {
  try {
    return join(root, ...locationOf(project, name)) === path;
  } catch {
    return false;
  }
}

/** Names in a folder; of what is no folder, or gone meanwhile, none. */
async function namesIn(folder: string): Promise<string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return [];
    throw error;
  }
}
