import { join } from 'node:path';

/** Where the runner has bundled the programs, for a run of many files: see scripts/test-programs.mjs. */
const BUNDLED = process.env['SPANHOUSE_TEST_PROGRAMS'];

/** The file of a program that tests start in a process of its own. */
export function programFile(name: 'main' | 'admin'): string {
  if (BUNDLED !== undefined) return join(BUNDLED, `${name}.js`);
  return join(import.meta.dirname, '../..', name === 'main' ? 'src/main.js' : 'scripts/admin.js');
}
