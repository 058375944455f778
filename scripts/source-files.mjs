/** The files that are compiled, and those that are copied beside what is compiled. Paths are relative to the root. */
import { existsSync, readdirSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = join(dirname(fileURLToPath(import.meta.url)), '..');
/** The folders that have sources, each with a folder of its name in dist/. */
export const sourceFolders = ['src', 'test', 'bench', 'scripts'];

/** Runs in browsers alone, and is bundled instead of compiled. */
const CONSOLE_APP = join('src/console/app', '/');

/** TypeScript files that are compiled. */
export function sourceFiles() {
  return sourceFolders
    .flatMap((folder) => readdirSync(join(root, folder), { recursive: true }).map((file) => join(folder, file)))
    .filter((file) => file.endsWith('.ts') && !file.endsWith('.d.ts') && !file.startsWith(CONSOLE_APP))
    .sort();
}

/** Files in folders named `static`: what pages are made of, copied as they are. */
export function staticFiles() {
  return readdirSync(join(root, 'src'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && basename(entry.parentPath) === 'static')
    .map((entry) => relative(root, join(entry.parentPath, entry.name)))
    .sort();
}

/** What the console is bundled from, beside the TypeScript files that it shares with the server; empty: there is no console. */
export function consoleFiles() {
  if (!existsSync(join(root, CONSOLE_APP))) return [];
  return readdirSync(join(root, CONSOLE_APP), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(root, join(entry.parentPath, entry.name)))
    .sort();
}
