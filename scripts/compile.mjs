/**
 * Compiles the sources into dist/: each TypeScript file without its types, at the same line and column, which takes
 * half a second and no package (tsc checks the types, in `npm test`). What pages are made of, the files in `static`
 * folders, is copied beside the code that serves it. Outputs that would not change are left alone, so that a server that
 * runs from them does not see a mixture.
 */
import { existsSync, mkdirSync, readFileSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { dirname, join } from 'node:path';
import { root, sourceFiles, sourceFolders, staticFiles } from './source-files.mjs';

const dist = join(root, 'dist');

const outputs = new Set();
for (const source of sourceFiles()) write(join(dist, source.replace(/\.ts$/, '.js')), Buffer.from(strip(source)));
for (const file of staticFiles()) write(join(dist, file), readFileSync(join(root, file)));
// A test whose source is gone would run for ever, and a page would be packed.
for (const output of sourceFolders.flatMap((folder) => filesIn(join(dist, folder)))) {
  // Another process that compiles at the same moment has drafts.
  if (!outputs.has(output) && !/\.\d+$/.test(output)) rmSync(output, { force: true });
}

function write(output, content) {
  outputs.add(output);
  if (existsSync(output) && readFileSync(output).equals(content)) return;
  mkdirSync(dirname(output), { recursive: true });
  // Renamed into place: a program that starts meanwhile reads all of it or what was there.
  const draft = `${output}.${process.pid}`;
  writeFileSync(draft, content);
  renameSync(draft, output);
}

function strip(source) {
  try {
    return stripTypeScriptTypes(readFileSync(join(root, source), 'utf8'), { mode: 'strip' });
  } catch (error) {
    process.stderr.write(`${source}: ${error.message}\n`);
    return process.exit(1);
  }
}

function filesIn(folder) {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}
