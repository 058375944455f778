import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { packageVersion } from '../../src/engine/files/schema-files.js';
import { npm, pack, type Packed } from './npm-pack.js';

const execute = promisify(execFile);

describe('the package that `npm pack` makes, installed @slow', function () {
  this.timeout(240_000);
  let folder: string;
  let packed: Packed;
  let server: ChildProcess | undefined;
  let ended: Promise<unknown>;
  let url: string;
  let key: string;

  const spanhouse = () => join(folder, 'node_modules/.bin/spanhouse');

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'spanhouse-packed-'));
    packed = await pack(folder);
    // Without scripts of packages, and without a compiler: nothing may need one.
    await npm(['install', `./${packed.filename}`, '--no-audit', '--no-fund', '--loglevel=error'], folder);
  });

  after(async () => {
    if (server !== undefined && server.exitCode === null) {
      server.kill('SIGKILL');
      await ended;
    }
    await rm(folder, { recursive: true, force: true });
  });

  it('brings no package that only development needs', () => {
    const names = readdirSync(join(folder, 'node_modules'));
    expect(names).to.include.members(['express', 'chdb', 'better-sqlite3']);
    const development = ['mocha', 'chai', 'typescript', 'eslint', 'prettier', 'puppeteer-core', 'fast-check', 'ai'];
    expect(names.filter((name) => development.includes(name))).to.deep.equal([]);
  });

  it('has a command with help and a version', async () => {
    expect((await execute(spanhouse(), ['--version'])).stdout.trim()).to.equal(packageVersion());
    const { stdout: help } = await execute(spanhouse(), ['--help']);
    for (const command of ['start', 'admin', 'demo']) expect(help).to.match(new RegExp(`^ {2}${command}\\b`, 'm'));
    expect((await execute(spanhouse(), ['start', '--help'])).stdout).to.include('  DATA_DIR  (default: ');
    expect((await execute(spanhouse(), ['admin', '--help'])).stdout).to.include('create-key');
  });

  it('starts by its bare name, takes a span, answers it, and shows its pages', async () => {
    server = spawn(spanhouse(), [], {
      cwd: folder,
      env: { ...process.env, PORT: '0', DATA_DIR: join(folder, 'data'), LOG_FORMAT: 'json' },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    ended = once(server, 'close');
    ({ url, key } = await announced(server));
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
    const trace_id = '0197f3a0-0000-7000-8000-0000000000c1';
    const span = { trace_id, name: 'hello', started_at: '2026-01-15T10:00:00Z' };
    const posted = await fetch(`${url}/spans`, { method: 'POST', headers, body: JSON.stringify([span]) });
    expect(posted.status, await posted.text()).to.equal(200);
    const [trace] = (await (await fetch(`${url}/traces`, { headers })).json()) as { id: string; span_count: number }[];
    expect(trace).to.include({ id: trace_id, span_count: 1 });
    for (const page of [
      '/readyz',
      '/docs',
      '/docs/judges',
      '/docs/api',
      '/docs/swagger-ui-bundle.js',
      '/openapi.json',
    ]) {
      const response = await fetch(url + page);
      expect([page, response.status]).to.deep.equal([page, 200]);
      // Taken whole, or its connection stays open.
      expect(await response.text()).to.not.equal('');
    }
  });

  it('manages keys of that server, and sends it the demo', async () => {
    const env = { ...process.env, DATA_DIR: join(folder, 'data') };
    const { stdout } = await execute(spanhouse(), ['admin', '--json', 'list-keys'], { env });
    expect(JSON.parse(stdout)).to.have.length(1);
    const demo = await execute(spanhouse(), ['demo', '--url', url, '--key', key, '--sessions', '2'], { env });
    expect(demo.stdout).to.match(/sessions +2 +2\n/);
  });

  it('stops with 0, having compiled and written nothing beside its data', async () => {
    server?.kill('SIGTERM');
    expect(await ended).to.deep.equal([0, null]);
    expect(readdirSync(folder).sort()).to.deep.equal(
      ['data', 'node_modules', 'package-lock.json', 'package.json', packed.filename].sort(),
    );
    expect(existsSync(join(folder, 'node_modules/spanhouse/dist/sources.sha256'))).to.equal(false);
  });
});

/** Waits for what the first start prints for a person. */
function announced(server: ChildProcess): Promise<{ readonly url: string; readonly key: string }> {
  return new Promise((resolve, reject) => {
    let text = '';
    server.stdout?.on('data', (chunk: Buffer) => {
      text += chunk.toString();
      const url = /ready at (\S+?),/.exec(text)?.[1];
      const key = /SPANHOUSE_KEY=(\S+)/.exec(text)?.[1];
      if (url !== undefined && key !== undefined) resolve({ url, key });
    });
    server.once('close', () => reject(new Error(`the server ended instead of becoming ready:\n${text}`)));
  });
}
