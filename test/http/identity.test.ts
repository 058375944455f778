import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { promisify } from 'node:util';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { bootServer, send, type TestServer } from './harness.js';

const run = promisify(execFile);
const main = join(import.meta.dirname, '../../src/main.js');
const admin = join(import.meta.dirname, '../../scripts/admin.js');

describe('API keys', () => {
  let server: TestServer;
  let keys: string;

  before(async () => {
    server = await bootServer();
    keys = `/projects/${server.projectId}/api-keys`;
  });
  after(() => server.dispose());

  it('are made, listed without the key, used and revoked at once', async () => {
    const created = await server.request('POST', keys, { body: { name: '  exporter ' } });
    expect(created.status).to.equal(201);
    expect(created.json.key).to.match(/^sk_sh_[A-Za-z0-9_-]{43}$/);
    expect(created.json.name).to.equal('exporter');
    expect(created.json.key.startsWith(created.json.prefix)).to.equal(true);

    const listed = await server.request('GET', keys, { key: created.json.key });
    expect(listed.status).to.equal(200);
    expect(listed.text).to.not.include(created.json.key);
    expect(listed.json.map(({ id }: { id: string }) => id)).to.include(created.json.id);

    const revoked = await server.request('DELETE', `${keys}/${created.json.id.toUpperCase()}`);
    expect([revoked.status, revoked.text]).to.deep.equal([204, '']);
    expect((await server.request('GET', keys, { key: created.json.key })).status).to.equal(401);
    expect((await server.request('DELETE', `${keys}/${created.json.id}`)).status).to.equal(404);
    const after = await server.request('GET', keys);
    expect(after.json.map(({ id }: { id: string }) => id)).to.not.include(created.json.id);
  });

  it('revoked by the admin program are refused by the running server at once, also when in use', async () => {
    const created = await server.request('POST', keys, { body: { name: 'short-lived' } });
    expect((await server.request('GET', keys, { key: created.json.key })).status).to.equal(200);
    const env = { ...process.env, DATA_DIR: server.dataDir };
    await run(process.execPath, [admin, '--json', 'revoke-key', created.json.id], { env });
    expect((await server.request('GET', keys, { key: created.json.key })).status).to.equal(401);
  });

  it('made by the admin program work at once, in their own project only', async () => {
    const env = { ...process.env, DATA_DIR: server.dataDir };
    const project = JSON.parse(
      (await run(process.execPath, [admin, '--json', 'create-project', 'Second'], { env })).stdout,
    );
    const created = JSON.parse(
      (await run(process.execPath, [admin, '--json', 'create-key', '--project', project.id], { env })).stdout,
    );
    const own = `${server.url}/projects/${project.id}/api-keys`;
    expect((await send(own, 'GET', { key: created.key })).json).to.have.length(1);
    expect((await send(server.url + keys, 'GET', { key: created.key })).status).to.equal(403);
    expect((await server.request('DELETE', `${keys}/${created.id}`)).status).to.equal(404);
  });

  it('show when they were last used, after a restart too', async () => {
    await server.stop();
    server = await bootServer({ dataDir: server.dataDir });
    const [first] = (await server.request('GET', keys)).json;
    expect(Date.parse(first.last_used_at)).to.be.closeTo(Date.now(), 120_000);
  });
});

describe('first start', () => {
  let dataDir: string;
  beforeEach(async () => {
    dataDir = await mkdtemp(join(tmpdir(), 'spanhouse-start-'));
  });
  afterEach(() => rm(dataDir, { recursive: true, force: true }));

  const environment = (extra: Record<string, string> = {}) => ({
    PATH: process.env['PATH'] ?? '',
    PORT: '0',
    DATA_DIR: dataDir,
    LOG_LEVEL: 'warn',
    ...extra,
  });

  /** Starts the program, waits until it says it is ready, stops it with SIGTERM. */
  async function startAndStop(extra: Record<string, string> = {}, whileUp?: (out: string) => Promise<void>) {
    const child = spawn(process.execPath, [main], { env: environment(extra), stdio: ['ignore', 'pipe', 'pipe'] });
    let out = '';
    const ready = new Promise<void>((resolve, reject) => {
      child.stdout.on('data', (chunk) => {
        out += String(chunk);
        if (out.includes('is ready at')) resolve();
      });
      child.stderr.on('data', (chunk) => (out += String(chunk)));
      child.once('exit', () => reject(new Error(out)));
    });
    await ready;
    try {
      await whileUp?.(out);
    } finally {
      child.kill('SIGTERM');
    }
    const [code] = child.exitCode === null ? await once(child, 'exit') : [child.exitCode];
    return { out, code: code as number };
  }

  it('prints the key once, and the key works', async () => {
    const first = await startAndStop({}, async (out) => {
      const url = /ready at (http:\S+?),/.exec(out)?.[1] ?? '';
      const key = /sk_sh_[A-Za-z0-9_-]{43}/.exec(out)?.[0] ?? '';
      const project = /project +(\S+)/.exec(out)?.[1] ?? '';
      expect((await send(`${url}/projects/${project}/api-keys`, 'GET', { key })).status).to.equal(200);
    });
    expect(first.code).to.equal(0);
    expect(first.out).to.include('curl ');
    const second = await startAndStop();
    expect(second.code).to.equal(0);
    expect(second.out).to.not.match(/sk_sh_|curl/);
  }).timeout(20_000);

  it('ensures the initial project and key, once however often it starts', async () => {
    const env = {
      SPANHOUSE_INIT_API_KEY: 'my-own-key',
      SPANHOUSE_INIT_PROJECT_ID: '0197F3A0-0000-7000-8000-00000000ABCD',
    };
    for (let start = 0; start < 2; start += 1) {
      const server = await bootServer({ dataDir, env });
      const keys = await server.request('GET', '/projects/0197f3a0-0000-7000-8000-00000000abcd/api-keys', {
        key: 'my-own-key',
      });
      expect(keys.json).to.have.length(1);
      await server.stop();
    }
    const server = await bootServer({ dataDir });
    expect((await server.request('GET', `/projects/${server.projectId}/api-keys`)).json).to.have.length(1);
    await server.stop();
  });

  it('leaves a revoked initial key revoked', async () => {
    const first = await bootServer({ dataDir });
    const keys = `/projects/${first.projectId}/api-keys`;
    const [{ id }] = (await first.request('GET', keys)).json;
    await first.request('DELETE', `${keys}/${id}`);
    await first.stop();
    const second = await bootServer({ dataDir });
    expect((await second.request('GET', keys)).status).to.equal(401);
    await second.stop();
  });

  it('refuses a second process on the same DATA_DIR, and takes it over after kill -9', async () => {
    const child = spawn(process.execPath, [main], { env: environment(), stdio: ['ignore', 'pipe', 'inherit'] });
    await once(child.stdout, 'data');
    const second = await run(process.execPath, [main], { env: environment() }).catch((error: unknown) => error);
    expect(second).to.include({ code: 1 });
    expect((second as { stderr: string }).stderr)
      .to.include(dataDir)
      .and.to.include(String(child.pid));
    expect((second as { stderr: string }).stderr).to.not.match(/\n\s+at /);
    child.kill('SIGKILL');
    await once(child, 'exit');
    expect((await startAndStop()).code).to.equal(0);
  }).timeout(20_000);

  it('says what is wrong with the configuration, and exits with 1', async () => {
    const failure = await run(process.execPath, [main], { env: environment({ PORT: 'x' }) }).catch((e: unknown) => e);
    expect(failure).to.include({ code: 1 });
    expect((failure as { stderr: string }).stderr).to.include('PORT');
  }).timeout(20_000);

  it('that finds its port taken says so, and leaves the key for the start that works', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const port = String((other.address() as AddressInfo).port);
    const failure = await run(process.execPath, [main], { env: environment({ PORT: port }) }).catch((e: unknown) => e);
    other.close();
    expect(failure).to.include({ code: 1 });
    expect((failure as { stderr: string }).stderr)
      .to.include(port)
      .and.to.not.match(/\n\s+at /);
    expect((await startAndStop()).out).to.match(/sk_sh_[A-Za-z0-9_-]{43}/);
  }).timeout(30_000);
});
