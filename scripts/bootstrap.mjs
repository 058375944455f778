/**
 * What every command does before it does anything else: install the packages when they are missing or out of date,
 * and compile when the sources changed. Plain JavaScript without dependencies, because on a fresh clone there is
 * neither a compiler nor a package.
 */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, lstatSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const dist = join(root, 'dist');
const stamp = join(dist, 'sources.sha256');
const sourceFolders = ['src', 'test', 'bench', 'scripts'];

/** Leaves a checkout ready to run. Exits with a message when it cannot. */
export async function prepare() {
  checkNode();
  if (needsInstall()) await install();
  if (needsBuild()) await build();
}

/** Runs a program of ours or of node_modules; rejects never, answers the exit code (and the output, if asked for). */
export function run(args, { capture = false, env = process.env } = {}) {
  return new Promise((resolve) => {
    const stdio = capture ? ['ignore', 'pipe', 'pipe'] : ['ignore', 'inherit', 'inherit'];
    const child = spawn(process.execPath, args, { cwd: root, stdio, env });
    let output = '';
    child.stdout?.on('data', (chunk) => (output += chunk));
    child.stderr?.on('data', (chunk) => (output += chunk));
    const forward = (signal) => child.kill(signal);
    for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, forward);
    const finish = (code) => {
      for (const signal of ['SIGINT', 'SIGTERM']) process.off(signal, forward);
      resolve({ code, output });
    };
    child.once('error', (error) => {
      output += error.message;
      finish(127);
    });
    child.once('close', (code, signal) => finish(code ?? (signal === 'SIGINT' ? 130 : 143)));
  });
}

export function say(text) {
  process.stderr.write(`spanhouse: ${text}\n`);
}

export function fail(text) {
  say(text);
  process.exit(1);
}

function checkNode() {
  const [major, minor] = process.versions.node.split('.').map(Number);
  if (major < 20 || (major === 20 && minor < 19)) {
    fail(`needs Node.js 20.19 or newer; this is ${process.versions.node}. See https://nodejs.org for a current one.`);
  }
}

/** True when what is installed is not what package-lock.json asks for. */
function needsInstall() {
  const modules = join(root, 'node_modules');
  const link = lstatSync(modules, { throwIfNoEntry: false });
  // A link belongs to another checkout, and `npm ci` would delete what it points to.
  if (link?.isSymbolicLink()) return false;
  // npm writes this file last, so an interrupted install is noticed too.
  const installed = join(modules, '.package-lock.json');
  if (link === undefined || !existsSync(installed)) return true;
  const wanted = readPackages(join(root, 'package-lock.json'));
  const present = readPackages(installed);
  return Object.entries(wanted).some(([path, entry]) => {
    if (path === '') return false;
    const found = present[path];
    // Optional packages for other platforms are never installed.
    if (found === undefined) return !(entry.optional || entry.devOptional || entry.peer);
    return found.version !== entry.version || (entry.integrity ?? found.integrity) !== found.integrity;
  });
}

function readPackages(file) {
  return JSON.parse(readFileSync(file, 'utf8')).packages ?? {};
}

async function install() {
  say('installing packages (about 180 MB to download; one to three minutes the first time) …');
  const npm = process.env.npm_execpath;
  const cli = npm?.endsWith('npm-cli.js')
    ? npm
    : join(dirname(process.execPath), '../lib/node_modules/npm/bin/npm-cli.js');
  if (!existsSync(cli)) fail('packages are missing: run `npm ci`, then this command again.');
  // The compiler is a development dependency, so it is wanted in production too: this is what builds.
  const { code } = await run([cli, 'ci', '--include=dev', '--no-audit', '--no-fund', '--loglevel=error']);
  if (code !== 0) fail(`\`npm ci\` ended with ${code}; see its message above.`);
}

function needsBuild() {
  return !existsSync(stamp) || readFileSync(stamp, 'utf8') !== fingerprint() || missingOutputs().length > 0;
}

async function build() {
  say('compiling (some 15 seconds the first time) …');
  for (const orphan of orphanedOutputs()) rmSync(orphan, { force: true });
  // An output that vanished is not written again by an incremental compiler that remembers having written it.
  if (missingOutputs().length > 0) rmSync(join(dist, 'tsconfig.tsbuildinfo'), { force: true });
  const before = fingerprint();
  const { code } = await run([join(root, 'node_modules/typescript/bin/tsc'), '-p', 'tsconfig.json']);
  if (code !== 0) fail('the sources do not compile; see the messages above.');
  mkdirSync(dist, { recursive: true });
  writeFileSync(stamp, before);
}

/** A hash over everything that decides what the compiler writes. */
function fingerprint() {
  const hash = createHash('sha256');
  for (const file of [...sources(), 'tsconfig.json', 'package-lock.json']) {
    hash
      .update(`${file}\0`)
      .update(readFileSync(join(root, file)))
      .update('\0');
  }
  return hash.digest('hex');
}

function sources() {
  return sourceFolders.flatMap((folder) => filesIn(join(root, folder), '.ts')).map((file) => relative(root, file));
}

function missingOutputs() {
  return sources()
    .filter((file) => !file.endsWith('.d.ts'))
    .map((file) => join(dist, file.replace(/\.ts$/, '.js')))
    .filter((file) => !existsSync(file));
}

/** Outputs whose source is gone; a test among them would run for ever. */
function orphanedOutputs() {
  const outputs = sourceFolders.flatMap((folder) => filesIn(join(dist, folder), '.js', '.js.map'));
  return outputs.filter((file) => {
    const source = relative(dist, file).replace(/\.js(\.map)?$/, '.ts');
    return !existsSync(join(root, source));
  });
}

function filesIn(folder, ...endings) {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && endings.some((ending) => entry.name.endsWith(ending)))
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name))
    .sort();
}
