/** The files that are compiled, and those that are copied beside what is compiled. Paths are relative to the root. */
import { readdirSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = join(dirname(fileURLToPath(import.meta.url)), '..');
/** The folders that have sources, each with a folder of its name in dist/. */
export const sourceFolders = ['src', 'test', 'bench', 'scripts'];

/** TypeScript files that are compiled. */
export function sourceFiles() {
  return sourceFolders
    .flatMap((folder) => readdirSync(join(root, folder), { recursive: true }).map((file) => join(folder, file)))
    .filter((file) => file.endsWith('.ts') && !file.endsWith('.d.ts'))
    .sort();
}

/** Files in folders named `static`: what pages are made of, copied as they are. */
export function staticFiles() {
  return readdirSync(join(root, 'src'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && basename(entry.parentPath) === 'static')
    .map((entry) => relative(root, join(entry.parentPath, entry.name)))
    .sort();
}
