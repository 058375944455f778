import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/**
 * The folder of the schema's files for one store. The program runs from `dist/`, the files stay at the root of the
 * package, so the root is looked for from here upwards.
 */
export function schemaDirectory(store: 'sqlite' | 'clickhouse'): string {
  return join(packageRoot(), 'schema', store);
}

/** The folder that holds this package's `package.json`. */
export function packageRoot(): string {
  const start = dirname(fileURLToPath(import.meta.url));
  for (let folder = start; ; folder = dirname(folder)) {
    if (isPackageRoot(join(folder, 'package.json'))) return folder;
    if (dirname(folder) === folder) throw new Error(`No package.json of spanhouse above ${start}`);
  }
}

function isPackageRoot(file: string): boolean {
  if (!existsSync(file)) return false;
  return (JSON.parse(readFileSync(file, 'utf8')) as { name?: unknown }).name === 'spanhouse';
}

/** The program's own version. */
export function packageVersion(): string {
  return (JSON.parse(readFileSync(join(packageRoot(), 'package.json'), 'utf8')) as { version: string }).version;
}
