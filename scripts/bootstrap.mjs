/**
 * Preparation of every command: installs the packages when they are missing or out of date,
 * and compiles when the sources changed. Plain JavaScript without dependencies, because on a fresh clone there is
 * neither a compiler nor a package.
 */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, lstatSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { npm, suffices } from './node-releases.mjs';
import { consoleFiles, root, sourceFiles, staticFiles } from './source-files.mjs';

export { root } from './source-files.mjs';

const dist = join(root, 'dist');
const modules = join(root, 'node_modules');
const stamp = join(dist, 'sources.sha256');

/**
 * Leaves a checkout ready to run. Exits with a message when it cannot.
 * @param development whether tests, benches and checks are run, which need more packages than the server
 */
export async function prepare({ development = false } = {}) {
  if (!suffices()) fail(`Node.js ${process.versions.node} is too old: use \`npm start\`, \`npm test\` and so on.`);
  // Child processes find this Node.js first.
  process.env.PATH = [dirname(process.execPath), process.env.PATH].join(delimiter);
  if (lacksPackages({ development })) await install(development);
  if (needsCompiling()) await compile();
}

/** Runs a program of ours or of node_modules; rejects never, answers the exit code (and the output, if asked for). */
export function run(args, options) {
  return spawned(process.execPath, args, options);
}

function spawned(command, args, { capture = false, env = process.env } = {}) {
  return new Promise((resolve) => {
    const stdio = capture ? ['ignore', 'pipe', 'pipe'] : ['ignore', 'inherit', 'inherit'];
    const child = spawn(command, args, { cwd: root, stdio, env });
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

/** True when what is installed is not what package-lock.json asks for. */
function lacksPackages({ development }) {
  const link = lstatSync(modules, { throwIfNoEntry: false });
  // A link belongs to another checkout, and `npm ci` would delete what it points to.
  if (link?.isSymbolicLink()) return false;
  // npm writes this file last, so an interrupted install is noticed too.
  const installed = join(modules, '.package-lock.json');
  if (!existsSync(installed)) return true;
  const present = readPackages(installed);
  return Object.entries(wantedPackages(development)).some(([path, entry]) => {
    const found = present[path];
    // Optional packages for other platforms are never installed.
    if (found === undefined) return !(entry.optional || entry.devOptional || entry.peer);
    const changed = found.version !== entry.version || (entry.integrity ?? found.integrity) !== found.integrity;
    return changed || !existsSync(join(root, path, 'package.json'));
  });
}

/** The entries of the lock file that are to be installed, by their paths. */
function wantedPackages(development) {
  const all = Object.entries(readPackages(join(root, 'package-lock.json')));
  return Object.fromEntries(all.filter(([path, { dev }]) => path !== '' && (development || !dev)));
}

function readPackages(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8')).packages ?? {};
  } catch {
    // Cut off while it was written.
    return {};
  }
}

/** No package of ours needs its install script: whatever is native comes compiled. */
const NPM_FLAGS = ['--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error', '--prefer-offline'];

async function install(development) {
  const [command, ...npmArgs] = npm();
  // A server may be running from what is there: what only development needs is added beside it.
  const addition = development && !lacksPackages({ development: false });
  // Packages that ours merely get along with, such as AI SDKs, are optional peers: left out, they are not installed.
  const production = ['ci', '--omit=dev', '--legacy-peer-deps'];
  const all = addition ? ['install', '--no-save', '--include=dev'] : ['ci', '--include=dev'];
  const verb = development ? all : production;
  const wanted = Object.entries(wantedPackages(development)).filter(
    ([, { optional, devOptional }]) => !optional && !(devOptional && !development),
  );
  const progress = showProgress(
    development ? 'packages of the tests' : 'packages (180 MB to download the first time)',
    wanted.map(([path]) => join(root, path, 'package.json')),
  );
  const { code, output } = await spawned(command, [...npmArgs, ...verb, ...NPM_FLAGS], { capture: true });
  progress.stop();
  if (code === 0) return;
  process.stderr.write(output);
  fail(`\`npm ${verb[0]}\` failed with ${code}: see above. Fix that (check the network) and run this again.`);
}

/** How many of these files are there: a bar that grows on a terminal, elsewhere a line now and then. */
function showProgress(what, files) {
  const terminal = process.stderr.isTTY;
  const began = Date.now();
  const show = () => {
    const done = files.filter((file) => existsSync(file)).length;
    const bar = '█'.repeat((done * 24) / files.length).padEnd(24, '░');
    const line = `installing ${what} ${bar} ${done}/${files.length}, ${Math.round((Date.now() - began) / 1000)} s`;
    if (terminal) process.stderr.write(`\rspanhouse: ${line} `);
    else say(line);
  };
  show();
  const timer = setInterval(show, terminal ? 200 : 5_000);
  return {
    stop() {
      clearInterval(timer);
      show();
      if (terminal) process.stderr.write('\n');
    },
  };
}

function needsCompiling() {
  return !existsSync(stamp) || readFileSync(stamp, 'utf8') !== fingerprint() || missingOutputs().length > 0;
}

/** Compiles all sources. Exits with a message when they are no TypeScript. */
export async function compile() {
  const before = fingerprint();
  // Stripping types is what the sources are written for; that Node.js calls it experimental is no news to whoever starts this.
  const { code } = await run(['--disable-warning=ExperimentalWarning', join(root, 'scripts/compile.mjs')]);
  if (code !== 0) fail('the sources do not compile; see the message above.');
  if (consoleFiles().length > 0) await bundle();
  mkdirSync(dist, { recursive: true });
  writeFileSync(stamp, before);
}

async function bundle() {
  const { code } = await run([join(root, 'scripts/bundle.mjs')]);
  if (code !== 0) fail('cannot bundle the console; see the message above.');
}

/** A hash over everything that decides what is compiled. */
function fingerprint() {
  const hash = createHash('sha256').update(process.versions.node);
  const programs = ['scripts/compile.mjs', 'scripts/bundle.mjs', 'scripts/source-files.mjs'];
  for (const file of [...sourceFiles(), ...staticFiles(), ...consoleFiles(), ...programs]) {
    hash
      .update(`${file}\0`)
      .update(readFileSync(join(root, file)))
      .update('\0');
  }
  return hash.digest('hex');
}

function missingOutputs() {
  const bundled = consoleFiles().length > 0 ? ['console/manifest.json'] : [];
  return [...sourceFiles().map((file) => file.replace(/\.ts$/, '.js')), ...staticFiles(), ...bundled]
    .map((file) => join(dist, file))
    .filter((file) => !existsSync(file));
}
