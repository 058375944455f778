/**
 * Bundles the programs that tests start hundreds of times, for a run of many files: two fifths of the processor time of a short
 * command is for finding and reading a thousand modules. What is compiled is the same; tests of installations start the
 * programs as they are shipped.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { root } from './source-files.mjs';

/** Native, or loaded when they are needed, which tests look at, or changed by what tests load before (`--import`). */
const EXTERNAL = [
  '@clickhouse/client',
  'better-sqlite3',
  'chdb',
  'esbuild',
  'rolldown',
  'swagger-ui-dist',
  '@aws-sdk/*',
  '@opentelemetry/*',
];

/** Modules find what lies beside them where they were. */
const atHome = {
  name: 'at-home',
  setup({ onLoad }) {
    onLoad({ filter: /\/dist\/(src|scripts)\/.*\.js$|\/scripts\/[^/]*\.mjs$/ }, async ({ path }) => {
      const text = await readFile(path, 'utf8');
      return { contents: text.replaceAll('import.meta.url', JSON.stringify(pathToFileURL(path).href)) };
    });
  },
};

/** @returns the folder of `main.js`, `admin.js` and `spanhouse.js`, below dist, so that they find packages; it goes with this process */
export async function bundlePrograms() {
  const outdir = mkdtempSync(join(root, 'dist/programs-'));
  process.on('exit', () => rmSync(outdir, { recursive: true, force: true }));
  await build({
    entryPoints: {
      main: join(root, 'dist/src/main.js'),
      admin: join(root, 'dist/scripts/admin.js'),
      spanhouse: join(root, 'scripts/spanhouse.mjs'),
    },
    outdir,
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node22',
    external: EXTERNAL,
    plugins: [atHome],
    // Packages that are CommonJS.
    banner: {
      js: "import { createRequire as requireOf } from 'node:module';\nconst require = requireOf(import.meta.url);",
    },
    logLevel: 'warning',
  });
  return outdir;
}
