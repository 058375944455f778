/**
 * Bundles the console into dist/console: scripts and styles with a hash in their names, each compressed, so that no request
 * compresses anything. A screen is a chunk of its own; what several share comes in two more, so that a page waits for few
 * files. `manifest.json`, written last, says what the page loads.
 */
import { mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';
import { rolldown } from 'rolldown';
import { root } from './source-files.mjs';

const app = join(root, 'src/console/app');
const target = join(root, 'dist/console');
const BROWSERS = ['chrome123', 'firefox125', 'safari17.5'];
/** What so many screens share is loaded with the first of them, whichever that is; what two share, with one of these. */
const SHARED_BY_MANY = 5;

const [chunks, worker, others] = await Promise.all([screens(), besideDrawing(), beside()]).catch((error) => {
  console.error(error.message);
  process.exit(1);
});
const entry = chunks.find(({ isEntry }) => isEntry);
const other = (start) => others.find(({ name }) => name.startsWith(start));
const theme = other('theme-');

mkdirSync(target, { recursive: true });
const kept = new Set(['manifest.json']);
const files = [
  ...[...chunks, ...worker].map(({ fileName, code }) => ({ name: fileName, contents: Buffer.from(code) })),
  ...others.filter((file) => file !== theme),
];
for (const { name, contents } of files) keep(`${name}.gz`, gzipSync(contents, { level: 9 }));
const manifest = {
  files: files.map(({ name }) => name),
  console: entry.fileName,
  /** The script itself: the page holds it. */
  theme: Buffer.from(theme.contents).toString('utf8').trim(),
  worker: worker[0].fileName,
  style: other('style-').name,
  /** Loaded with the console's entry: named in the page, so that the browser asks for them at once. */
  preload: entry.imports,
};
write('manifest.json', JSON.stringify(manifest));
// Renamed with every change, or no longer made.
for (const file of readdirSync(target)) if (!kept.has(file)) rmSync(join(target, file));

function keep(name, contents) {
  kept.add(name);
  write(name, contents);
}

/** Whole at any moment: a server that starts meanwhile reads it. */
function write(name, contents) {
  const unfinished = join(target, `${name}.${process.pid}`);
  writeFileSync(unfinished, contents);
  renameSync(unfinished, join(target, name));
}

/** The console itself and its screens. */
async function screens() {
  return bundled('console', 'entry.tsx', {
    format: 'esm',
    codeSplitting: {
      groups: [
        { name: 'common', minShareCount: SHARED_BY_MANY, priority: 2 },
        { name: 'shared', minShareCount: 2, priority: 1 },
      ],
    },
  });
}

/** What reads large texts beside the thread that draws; of marked it has the lexer alone, a fifth less of what is sent. */
async function besideDrawing() {
  const lexerAlone = {
    name: 'lexer-alone',
    // The instance that marked makes of itself, and hangs its functions on, is never used.
    transform: {
      filter: { id: /\/marked\.esm\.js$/ },
      handler: (code) => code.replaceAll(/=new (\w+);/g, '=/* @__PURE__ */ new $1;'),
    },
  };
  const treeshake = { propertyReadSideEffects: false, propertyWriteSideEffects: false };
  return bundled('worker', 'worker.ts', { format: 'iife' }, { plugins: [lexerAlone], treeshake });
}

async function bundled(name, file, output, input = {}) {
  const bundle = await rolldown({
    ...input,
    input: { [name]: join(app, file) },
    cwd: root,
    tsconfig: false,
    // Sources name what they import by what it is compiled to.
    resolve: { extensionAlias: { '.js': ['.ts', '.tsx', '.js'] } },
    transform: { jsx: { runtime: 'automatic', importSource: 'preact' }, target: BROWSERS },
    onLog(level, log) {
      if (level === 'warn') throw new Error(log.message);
    },
  });
  const made = await bundle.generate({
    ...output,
    minify: true,
    // Annotations are for those who bundle further; they took 1 % of what is sent.
    comments: { legal: false, annotation: false },
    entryFileNames: '[name]-[hash].js',
    chunkFileNames: '[name]-[hash].js',
  });
  return made.output;
}

/** What is no module of the console: its styles, and what runs before it. */
async function beside() {
  const { outputFiles } = await build({
    entryPoints: {
      theme: join(app, 'theme.ts'),
      style: join(app, 'styles/index.css'),
    },
    outdir: target,
    absWorkingDir: root,
    bundle: true,
    format: 'iife',
    target: BROWSERS,
    minify: true,
    write: false,
    legalComments: 'none',
    entryNames: '[name]-[hash]',
    tsconfigRaw: {},
    logLevel: 'warning',
  });
  return outputFiles.map(({ path, contents }) => ({ name: basename(path), contents }));
}
