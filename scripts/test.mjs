/**
 * `npm test`: types, lint (with the layer rule), format and generated files, then every test.
 *   npm test -- --fast                  tests only, without those marked @slow
 *   npm test -- --grep "tag filter"     the tests with such a title
 *   npm test -- test/unit test/http/spans.test.ts   the tests of these files and folders
 * The last line is always `<N> passed, <N> failed`; each check counts like a test.
 */
import { existsSync, readFileSync, readdirSync, statSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { fail, prepare, root, run } from './bootstrap.mjs';

const STUCK_AFTER_MS = 15_000;
const { values, positionals } = readArguments();

await prepare({ development: true });
const partial = values.fast || values.grep !== undefined || positionals.length > 0;
const failedChecks = partial ? [] : await runChecks();
const stats = await runTests();
const passed = stats.passes + (partial ? 0 : checks().length - failedChecks.length);
const failed = stats.failures + failedChecks.length;
if (failedChecks.length > 0) console.log(`Failed checks: ${failedChecks.join(', ')}; see above.\n`);
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed > 0 || stats.passes === 0 ? 1 : 0;
endEvenWhenStuck();

function readArguments() {
  try {
    return parseArgs({
      options: {
        fast: { type: 'boolean', default: false },
        grep: { type: 'string', short: 'g' },
        bail: { type: 'boolean', short: 'b', default: false },
      },
      allowPositionals: true,
    });
  } catch (error) {
    return fail(`${error.message} Known: --fast, --grep <text>, --bail, files and folders below test/.`);
  }
}

function checks() {
  const bin = (path) => join(root, 'node_modules', path);
  return [
    { name: 'types', args: [bin('typescript/bin/tsc'), '-p', 'tsconfig.json'] },
    { name: 'lint', args: [bin('eslint/bin/eslint.js'), '--max-warnings=0', '.'] },
    { name: 'format', args: [bin('prettier/bin/prettier.cjs'), '--check', '--log-level=warn', '.'] },
    { name: 'generated files', args: [join(root, 'dist/scripts/generate.js'), '--check'] },
  ];
}

/** Runs the checks side by side and answers the names of those that failed. */
async function runChecks() {
  console.log(
    `Checking: ${checks()
      .map(({ name }) => name)
      .join(', ')} …`,
  );
  const results = await Promise.all(
    checks().map(async (check) => ({ ...check, ...(await run(check.args, { capture: true })) })),
  );
  for (const { name, code, output } of results) {
    console.log(`  ${code === 0 ? '✔' : '✘'} ${name}`);
    if (code !== 0) console.log(output.replace(/^/gm, '    '));
  }
  return results.filter(({ code }) => code !== 0).map(({ name }) => name);
}

async function runTests() {
  const { default: Mocha } = await import('mocha');
  const options = JSON.parse(readFileSync(join(root, '.mocharc.json'), 'utf8'));
  const mocha = new Mocha({ ...options, forbidOnly: Boolean(process.env.CI), bail: values.bail });
  if (values.grep !== undefined) mocha.grep(values.grep);
  else if (values.fast) mocha.grep('@slow').invert();
  for (const file of testFiles()) mocha.addFile(file);
  await mocha.loadFilesAsync();
  return new Promise((done) => {
    const runner = mocha.run(() => done(runner.stats));
  });
}

function testFiles() {
  if (positionals.length === 0) return compiledTests(join(root, 'dist/test'));
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

/** Something a test left open keeps the process alive; that is a defect of the test, and CI must not wait for it. */
function endEvenWhenStuck() {
  setTimeout(() => {
    console.error(`The tests left something open: ${process.getActiveResourcesInfo().join(', ')}`);
    process.exit(1);
  }, STUCK_AFTER_MS).unref();
}
