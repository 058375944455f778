/**
 * `npm test`: types, lint (with the rule of rooms), format and generated files, then the tests, files side by side.
 *   npm test -- --faults            the tests in files named faults-*, which are not among those: `npm run test:faults`
 *   npm test -- --fast                  tests only, without those marked @slow
 *   npm test -- --grep "tag filter"     the tests with such a title
 *   npm test -- test/lists test/otlp/grpc.test.ts   the tests of these files and folders
 *   npm test -- --jobs 1                one file after the other
 *   npm test -- --processor             lists what took the most processor time, which is what a whole run takes long by
 *   npm test -- --record                keeps what each file took, for the order of the next runs
 *   npm test -- --faults --for-seconds 600   begins no file that would end later, and says which it left out
 * The last line is always `<N> passed, <N> failed`; each check counts like a test.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statfsSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { availableParallelism, freemem, tmpdir } from 'node:os';
import { join, relative, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { fail, prepare, root, run } from './bootstrap.mjs';
import { TestFiles, nameOf } from './test-files.mjs';

/** More than processors, as tests wait half of their time; a server and its engine each, so not without end. */
const JOBS = Math.min(availableParallelism() + 2, 8);
/** Full disks, stopped and killed processes, overload, moves, loads of benches: what takes minutes and rarely changes. */
const FAULTS = /(^|\/)faults-[^/]*\.test\.ts$/;
/** With fewer files, creating tables once for all of them saves nothing. */
const TEMPLATE_FROM_FILES = 5;
/** Files in memory, where a system has them and there is room for those of all tests: creating some 100,000 takes time. */
const MEMORY = '/dev/shm';
const MEMORY_NEEDED_BYTES = 8 * 1024 ** 3;
/** Seconds of the files that take some time, as --record has measured them: the longest begin first. */
const SECONDS = join(root, 'scripts/test-seconds.json');
const RECORDED_FROM_SECONDS = 3;
/** So many files are listed by the processor time that they took. */
const LISTED = 60;
const DAY_MS = 24 * 60 * 60 * 1000;
const { values, positionals } = readArguments();

await prepare({ development: true });
const partial = values.fast || values.faults || values.grep !== undefined || positionals.length > 0;
const recorded = JSON.parse(readFileSync(SECONDS, 'utf8'));
const secondsOf = (file) => recorded[nameOf(file)] ?? 0;
const files = inOrder(testFiles());
const leftOut = [];
if (!values.faults) workInMemory();
rememberCompiled();
const tests = new TestFiles({
  grep: values.fast && values.grep === undefined ? '@slow' : values.grep,
  invert: values.fast && values.grep === undefined,
  bail: values.bail,
  color: process.stdout.isTTY === true,
  live: files.length === 1,
  silentMs: Number(values['silent-seconds']) * 1000,
});
const failedChecks = [];
if (files.length > 1) process.env.SPANHOUSE_TEST_JOBS = String(jobCount());
const template = files.length < TEMPLATE_FROM_FILES ? null : await createTemplate();
if (template !== null) await prepareForMany();
const shared = template === null ? null : await startSharedServer();
await sideBySide([
  ...(partial ? [] : checks().map((check) => () => runCheck(check))),
  ...files.filter((file) => !runsAlone(file)).map((file) => () => runInTime(file)),
]);
for (const file of files.filter(runsAlone)) if (!stopped()) await runInTime(file);
tests.end();
await shared?.end();
if (template !== null) rmSync(template, { recursive: true, force: true });
if (values.record && (!partial || values.faults)) record();
if (values.processor) tellProcessorTime();
tellFailures();
const passed = tests.passed + (partial ? 0 : checks().length - failedChecks.length);
const failed = tests.failures.length + failedChecks.length;
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed > 0 || (tests.passed === 0 && leftOut.length === 0) ? 1 : 0;

function readArguments() {
  try {
    return parseArgs({
      options: {
        fast: { type: 'boolean', default: false },
        faults: { type: 'boolean', default: false },
        grep: { type: 'string', short: 'g' },
        bail: { type: 'boolean', short: 'b', default: false },
        jobs: { type: 'string', short: 'j' },
        processor: { type: 'boolean', default: false },
        record: { type: 'boolean', default: false },
        'for-seconds': { type: 'string', default: 'Infinity' },
        'silent-seconds': { type: 'string', default: '60' },
      },
      allowPositionals: true,
    });
  } catch (error) {
    return fail(
      `${error.message} Known: --fast, --faults, --grep <text>, --bail, --jobs <n>, --processor, --record, --for-seconds <n>, --silent-seconds <n>, files and folders below test/.`,
    );
  }
}

function checks() {
  const bin = (path) => join(root, 'node_modules', path);
  // Without so much for young objects, a seventh of the time is for collecting them.
  const room = ['--max-old-space-size=4096', '--max-semi-space-size=128'];
  return [
    { name: 'types and lint', args: [...room, join(root, 'scripts/types-and-lint.mjs')] },
    { name: 'format', args: [bin('prettier/bin/prettier.cjs'), '--check', '--log-level=warn', '.'] },
    { name: 'generated files', args: [join(root, 'dist/scripts/generate.js'), '--check'] },
  ];
}

async function runCheck({ name, args }) {
  const { code, output } = await run(args, { capture: true });
  console.log(`\n${code === 0 ? '✔' : '✘'} ${name}`);
  if (code === 0) return;
  failedChecks.push(name);
  console.log(output.replace(/^/gm, '    '));
}

/** Runs the jobs in their order, a few at a time. */
async function sideBySide(jobs) {
  const queue = jobs[Symbol.iterator]();
  const take = async () => {
    for (const job of queue) {
      await job();
      if (stopped()) return;
    }
  };
  await Promise.all(Array.from({ length: jobCount() }, take));
}

/** How many files run side by side. */
function jobCount() {
  return Math.max(1, Number(values.jobs ?? JOBS) || 1);
}

function stopped() {
  return values.bail && tests.failures.length > 0;
}

function testFiles() {
  if (positionals.length === 0) {
    const isFault = (file) => FAULTS.test(nameOf(file));
    return compiledTests(join(root, 'dist/test')).filter((file) => isFault(file) === values.faults);
  }
  return positionals.flatMap((given) => {
    const compiled = join(root, 'dist', relative(root, resolve(given))).replace(/\.ts$/, '.js');
    if (!existsSync(compiled)) return fail(`there is no test ${given}`);
    return statSync(compiled).isDirectory() ? compiledTests(compiled) : [compiled];
  });
}

function compiledTests(folder) {
  return readdirSync(folder, { recursive: true })
    .filter((file) => file.endsWith('.test.js'))
    .map((file) => join(folder, file))
    .sort();
}

/**
 * The longest first, so that none of them is left over when everything else is done. With a bound of time, each day begins
 * elsewhere, so that every file gets its turn.
 */
function inOrder(list) {
  const sorted = [...new Set(list)].sort((one, other) => secondsOf(other) - secondsOf(one));
  if (Number(values['for-seconds']) === Infinity) return sorted;
  const first = (Math.floor(Date.now() / DAY_MS) * 7) % Math.max(1, sorted.length);
  return [...sorted.slice(first), ...sorted.slice(0, first)];
}

/** Runs a file, unless it would end after the time that there is. */
async function runInTime(file) {
  if (performance.now() / 1000 + secondsOf(file) > Number(values['for-seconds'])) leftOut.push(file);
  else await tests.run(file);
}

/** Whether a title in the file says so: it measures time, or fills the machine until others would fail. */
function runsAlone(file) {
  return readFileSync(file, 'utf8').includes('@alone');
}

/** Gives the tests a folder in memory for all that they write, unless TMPDIR names another; it is removed in the end. */
function workInMemory() {
  if (process.env.TMPDIR !== undefined || !existsSync(MEMORY)) return;
  const { bavail, bsize } = statfsSync(MEMORY);
  if (Math.min(bavail * bsize, freemem()) < MEMORY_NEEDED_BYTES) return;
  const folder = mkdtempSync(join(MEMORY, 'spanhouse-tests-'));
  process.env.TMPDIR = folder;
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
}

/** Servers and other programs that tests start, each in a process of its own, need not compile the same modules again. */
function rememberCompiled() {
  const folder = mkdtempSync(join(tmpdir(), 'spanhouse-compiled-'));
  process.env.NODE_COMPILE_CACHE = folder;
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
}

/** Tables of both stores that the first starts of tests find created. */
async function createTemplate() {
  const directory = mkdtempSync(join(tmpdir(), 'spanhouse-template-'));
  const { code, output } = await run([join(root, 'dist/test/harness/template.js'), directory], { capture: true });
  if (code !== 0) fail(`the tables for tests could not be created: ${output}`);
  process.env.SPANHOUSE_TEST_TEMPLATE = directory;
  return directory;
}

/** What only a run of many files is worth: see test-programs.mjs. */
async function prepareForMany() {
  // Its packages may have been installed just now.
  const { bundlePrograms } = await import('./test-programs.mjs');
  process.env.SPANHOUSE_TEST_PROGRAMS = await bundlePrograms();
}

/** A server for all files that need none of their own; it ends when this process does, however that is. */
async function startSharedServer() {
  const program = join(root, 'dist/test/harness/files-server.js');
  const child = fork(program, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  const place = await new Promise((resolve) => {
    child.once('message', resolve);
    child.once('exit', () => resolve(null));
  });
  if (place === null) fail('the server for tests does not start: see above');
  process.env.SPANHOUSE_TEST_SERVER = JSON.stringify(place);
  return {
    async end() {
      if (!child.connected) return;
      child.disconnect();
      await once(child, 'exit');
    },
  };
}

/** Stores how long each test file took; times of files that did not run are kept while the files exist. */
function record() {
  const known = Object.entries(recorded).filter(([name]) => !tests.seconds.has(name) && existsSync(join(root, name)));
  const measured = [...tests.seconds].map(([name, seconds]) => [name, Math.round(seconds)]);
  const entries = [...known, ...measured]
    .filter(([, seconds]) => seconds >= RECORDED_FROM_SECONDS)
    .sort(([, one], [, other]) => other - one);
  writeFileSync(SECONDS, `${JSON.stringify(Object.fromEntries(entries), null, 2)}\n`);
}

function tellProcessorTime() {
  const sorted = [...tests.processorSeconds].sort(([, one], [, other]) => other - one);
  const sum = sorted.reduce((all, [, seconds]) => all + seconds, 0);
  console.log(`\nProcessor time: ${sum.toFixed(0)} s in ${sorted.length} files`);
  for (const [name, seconds] of sorted.slice(0, LISTED)) console.log(`${seconds.toFixed(1).padStart(8)} s  ${name}`);
}

function tellFailures() {
  if (tests.pending > 0) console.log(`\n${tests.pending} pending`);
  if (leftOut.length > 0)
    console.log(`\nLeft out, for want of time:\n${leftOut.map((file) => `  ${nameOf(file)}`).join('\n')}`);
  if (tests.failures.length > 0) console.log('\nFailures:');
  for (const { name, text } of tests.failures) console.log(`\n${name}\n${text}`);
  if (failedChecks.length > 0) console.log(`Failed checks: ${failedChecks.join(', ')}; see above.`);
  console.log(`\nTook ${Math.round(performance.now() / 1000)} s.\n`);
}
