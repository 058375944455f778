import { join } from 'node:path';

/** Where the runner has bundled the programs, for a run of many files: see scripts/test-programs.mjs. */
const BUNDLED = process.env['SPANHOUSE_TEST_PROGRAMS'];

const ROOT = join(import.meta.dirname, '../../..');
const FILES = { main: 'dist/src/main.js', admin: 'dist/scripts/admin.js', spanhouse: 'scripts/spanhouse.mjs' };

/** The file of a program that tests start in a process of its own. */
export function programFile(name: keyof typeof FILES): string {
  return BUNDLED === undefined ? join(ROOT, FILES[name]) : join(BUNDLED, `${name}.js`);
}

const { PATH = '', NODE_COMPILE_CACHE } = process.env;

/** What a program needs of the environment, and nothing that a test does not know of. */
export const PROGRAM_ENV: Readonly<Record<string, string>> = {
  PATH,
  // Its modules need not be compiled again.
  ...(NODE_COMPILE_CACHE !== undefined && { NODE_COMPILE_CACHE }),
};
