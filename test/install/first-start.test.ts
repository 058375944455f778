import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { packageRoot } from '../../src/engine/files/schema-files.js';

interface Locked {
  readonly version: string;
  readonly integrity: string;
  readonly dev?: boolean;
}

/** A small package of this project's own lock file, which the cache of npm therefore has. */
function smallPackage(dev: boolean): { readonly name: string; readonly locked: Locked } {
  const { packages } = JSON.parse(readFileSync(join(packageRoot(), 'package-lock.json'), 'utf8')) as {
    packages: Record<string, Locked>;
  };
  const found = Object.entries(packages).find(([path, locked]) => {
    const alone = ['dependencies', 'peerDependencies', 'bin'].every((field) => !(field in locked));
    return alone && /^node_modules\/[a-z-]+$/.test(path) && (locked.dev ?? false) === dev;
  });
  if (found === undefined) throw new Error('no small package in package-lock.json');
  return { name: found[0].replace('node_modules/', ''), locked: found[1] };
}

/** The scripts of this project, in a checkout with two packages and two programs of one line. */
describe('the first start in a checkout', function () {
  this.timeout(60_000);
  const needed = smallPackage(false);
  const ofTests = smallPackage(true);
  let checkout: string;

  beforeEach(async () => {
    checkout = await mkdtemp(join(tmpdir(), 'spanhouse-checkout-'));
    await cp(join(packageRoot(), 'scripts'), join(checkout, 'scripts'), {
      recursive: true,
      filter: (file) => !file.endsWith('.ts'),
    });
    for (const folder of ['src', 'test', 'bench']) await mkdir(join(checkout, folder));
    await writeFile(join(checkout, 'scripts/hello.ts'), `const said: string = 'hello';\nconsole.log(said);\n`);
    await writeFile(join(checkout, 'bench/measure.ts'), `const said: string = 'measured';\nconsole.log(said);\n`);
    const root = {
      type: 'module',
      engines: { node: '>=22.13.0' },
      dependencies: { [needed.name]: needed.locked.version },
      devDependencies: { [ofTests.name]: ofTests.locked.version },
    };
    const packages = {
      '': root,
      [`node_modules/${needed.name}`]: needed.locked,
      [`node_modules/${ofTests.name}`]: ofTests.locked,
    };
    await writeFile(join(checkout, 'package.json'), JSON.stringify(root));
    await writeFile(
      join(checkout, 'package-lock.json'),
      JSON.stringify({ lockfileVersion: 3, requires: true, packages }),
    );
  });

  afterEach(() => rm(checkout, { recursive: true, force: true }));

  async function run(program: string, env: Readonly<Record<string, string>> = {}) {
    const child = spawn(process.execPath, [join(checkout, 'scripts/run.mjs'), program], {
      env: { ...process.env, ...env },
    });
    let [stdout, stderr] = ['', ''];
    child.stdout.on('data', (text: Buffer) => (stdout += text.toString()));
    child.stderr.on('data', (text: Buffer) => (stderr += text.toString()));
    const [code] = (await once(child, 'close')) as [number | null];
    return { code, stdout, stderr };
  }

  const installed = (name: string) => existsSync(join(checkout, 'node_modules', name, 'package.json'));

  it('installs what the program needs and nothing of the tests, says so, and runs it', async () => {
    const { code, stdout, stderr } = await run('scripts/hello.js');
    expect({ code, stdout }, stderr).to.deep.equal({ code: 0, stdout: 'hello\n' });
    expect(stderr).to.match(/installing packages .* 1\/1, \d+ s\n$/);
    expect([installed(needed.name), installed(ofTests.name)]).to.deep.equal([true, false]);
  });

  it('does nothing of that again, and compiles what changed', async () => {
    await run('scripts/hello.js');
    expect(await run('scripts/hello.js')).to.deep.equal({ code: 0, stdout: 'hello\n', stderr: '' });
    await writeFile(join(checkout, 'scripts/hello.ts'), `const said: string = 'again';\nconsole.log(said);\n`);
    expect(await run('scripts/hello.js')).to.deep.equal({ code: 0, stdout: 'again\n', stderr: '' });
  });

  it('adds the packages of tests and benches where these are run, and leaves alone what a server may be using', async () => {
    await run('scripts/hello.js');
    const file = join(checkout, 'node_modules', needed.name, 'package.json');
    const before = statSync(file).ino;
    expect((await run('bench/measure.js')).stdout).to.equal('measured\n');
    expect(installed(ofTests.name)).to.equal(true);
    expect(statSync(file).ino).to.equal(before);
    expect((await run('scripts/hello.js')).stderr).to.equal('');
  });

  it('mends an installation that was cut off', async () => {
    await run('scripts/hello.js');
    for (const lost of [`${needed.name}/package.json`, '.package-lock.json']) {
      await rm(join(checkout, 'node_modules', lost));
      const { code, stdout } = await run('scripts/hello.js');
      expect({ code, stdout }, lost).to.deep.equal({ code: 0, stdout: 'hello\n' });
      expect(installed(needed.name), lost).to.equal(true);
    }
    await writeFile(join(checkout, 'node_modules/.package-lock.json'), '{"packages": {');
    expect((await run('scripts/hello.js')).code).to.equal(0);
  });

  it('says what to do when nothing can be installed', async () => {
    const { code, stdout, stderr } = await run('scripts/hello.js', {
      npm_config_registry: 'http://127.0.0.1:1',
      npm_config_cache: join(checkout, 'empty'),
      npm_config_fetch_retries: '0',
    });
    expect({ code, stdout }).to.deep.equal({ code: 1, stdout: '' });
    expect(stderr).to.match(/`npm ci` failed with \d+: see above\. Fix that .* and run this again\.\n$/);
  });

  it('names the file and the mistake when the sources do not compile', async () => {
    await writeFile(join(checkout, 'scripts/hello.ts'), 'const = ;\n');
    const { code, stderr } = await run('scripts/hello.js');
    expect(code).to.equal(1);
    expect(stderr).to.include('scripts/hello.ts').and.include('the sources do not compile');
  });
});
