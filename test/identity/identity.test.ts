import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { promisify } from 'node:util';
import { rm } from 'node:fs/promises';
import { expect } from 'chai';
import { codeIn, ConsoleBrowser } from './console-browser.js';
import { freshDataDir } from '../harness/fresh-directory.js';
import { bootServer, send, type TestResponse, type TestServer } from '../harness/server.js';
import { PROGRAM_ENV, programFile } from '../harness/program-files.js';

const run = promisify(execFile);
const main = programFile('main');
const admin = programFile('admin');

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
    const { key: _key, public_key: _public, ...kept } = created.json;
    const { last_used_at, ...mine } = listed.json.find(({ id }: { id: string }) => id === created.json.id);
    expect({ ...mine, last_used_at: null }, last_used_at).to.deep.equal({ ...kept, user_name: 'Owner' });

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
    dataDir = await freshDataDir('spanhouse-start-');
  });
  afterEach(() => rm(dataDir, { recursive: true, force: true }));

  const environment = (extra: Record<string, string> = {}) => ({
    ...PROGRAM_ENV,
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
    const [code] = child.exitCode === null ? await once(child, 'close') : [child.exitCode];
    return { out, code: code as number };
  }

  it('prints the key once, and the key works', async () => {
    const first = await startAndStop({}, async (out) => {
      const url = /ready at (http:\S+?),/.exec(out)?.[1] ?? '';
      const key = /sk_sh_[A-Za-z0-9_-]{43}/.exec(out)?.[0] ?? '';
      const project = /SPANHOUSE_PROJECT=(\S+)/.exec(out)?.[1] ?? '';
      expect((await send(`${url}/projects/${project}/api-keys`, 'GET', { key })).status).to.equal(200);
      const [opened = ''] = /http:\S+/.exec(out) ?? [];
      expect(opened.startsWith(`${url}/console#code=`), 'the first URL').to.equal(true);
      const browser = await ConsoleBrowser.signedIn({ url, projectId: project }, { code: codeIn(opened) });
      expect((await browser.request('GET', '/whoami')).json.key.name).to.equal('Initial key');
    });
    expect(first.code).to.equal(0);
    expect(first.out).to.include('curl ');
    const second = await startAndStop();
    expect(second.code).to.equal(0);
    expect(second.out).to.not.match(/sk_sh_|curl|code=/);
    expect(second.out).to.match(/^Console: http:\S+\/console \(npm run admin -- signin /m);
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

describe('the access of an API key', () => {
  const TRACE = '0199a1b2-0000-7000-8000-0000000000e1';
  let server: TestServer;
  let keys: string;

  before(async () => {
    server = await bootServer();
    keys = `/projects/${server.projectId}/api-keys`;
  });
  after(() => server.dispose());

  const keyOf = async (access?: string) => {
    const created = await server.request('POST', keys, { body: { name: 'of a test', access } });
    expect(created.status, created.text).to.equal(201);
    return created.json as { key: string; access: string };
  };
  /** A call of each purpose. */
  const calls: Readonly<Record<string, (key: string) => Promise<TestResponse>>> = {
    'GET /spans': (key) => server.request('GET', '/spans', { key }),
    'GET api-keys': (key) => server.request('GET', keys, { key }),
    'POST /spans': (key) =>
      server.request('POST', '/spans', {
        key,
        body: [{ trace_id: TRACE, name: 'sent', started_at: '2026-01-15T10:00:00Z' }],
      }),
    'POST /traces': (key) => server.request('POST', '/traces', { key, body: [] }),
    'POST /sessions': (key) => server.request('POST', '/sessions', { key, body: [] }),
    'POST /v1/traces': (key) => server.request('POST', '/v1/traces', { key, body: { resourceSpans: [] } }),
    'POST api-keys': (key) => server.request('POST', keys, { key, body: { name: 'another' } }),
    'POST ensure': (key) =>
      server.request('POST', '/v1/tasks/t/prompt/versions/ensure', { key, body: { content: 'You help.' } }),
    'DELETE /traces': (key) => server.request('DELETE', `/traces/${TRACE}`, { key }),
  };
  const statuses = async (key: string) => {
    const found: Record<string, number> = {};
    for (const [name, call] of Object.entries(calls)) found[name] = (await call(key)).status;
    return found;
  };

  it('is full unless another one is asked for', async () => {
    const { key, access } = await keyOf();
    expect(access).to.equal('full');
    for (const [name, status] of Object.entries(await statuses(key))) expect(status, name).to.be.below(300);
  });

  it('read opens GET alone, and nothing is changed', async () => {
    const { key, access } = await keyOf('read');
    expect(access).to.equal('read');
    const answered = await statuses(key);
    expect(Object.keys(answered).filter((name) => answered[name] === 200)).to.deep.equal([
      'GET /spans',
      'GET api-keys',
    ]);
    expect(Object.values(answered).filter((status) => status === 403)).to.have.length(Object.keys(calls).length - 2);
    const refused = await server.request('POST', '/spans', { key, body: [] });
    expect(refused.json.detail).to.equal('This API key lacks the scope spans:write');
  });

  it('ingest opens what brings spans, traces and sessions alone', async () => {
    const { key } = await keyOf('ingest');
    const answered = await statuses(key);
    const opened = ['POST /spans', 'POST /traces', 'POST /sessions', 'POST /v1/traces'];
    expect(Object.keys(answered).filter((name) => answered[name] === 200)).to.deep.equal(opened);
    expect(Object.values(answered).filter((status) => status === 403)).to.have.length(
      Object.keys(calls).length - opened.length,
    );
    const refused = await server.request('GET', '/spans', { key });
    expect(refused.json.detail).to.equal('This API key lacks the scope spans:read');
  });

  it('is checked before the body is read', async () => {
    const { key } = await keyOf('read');
    expect((await server.request('POST', '/spans', { key, body: '{' })).status).to.equal(403);
  });

  it('is one of those there are, is listed, and can be given by the admin program', async () => {
    const wrong = await server.request('POST', keys, { body: { name: 'x', access: 'write' } });
    expect(wrong.status).to.equal(422);
    expect(wrong.json.errors[0].detail).to.include('full').and.include('ingest');
    const env = { ...process.env, DATA_DIR: server.dataDir };
    const made = await run(process.execPath, [admin, '--json', 'create-key', '--access', 'read'], { env });
    const { id } = JSON.parse(made.stdout);
    const listed = (await server.request('GET', keys)).json as { id: string; access: string }[];
    expect(listed.find((key) => key.id === id)?.access).to.equal('read');
  });
});
