import { execFile, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { DATABASE_FILE, openDatabase } from '../../src/engine/metadata/database.js';
import { unhurried } from '../harness/program.js';
import { send } from '../harness/server.js';
import { PROGRAM_ENV, programFile } from '../harness/program-files.js';

const run = promisify(execFile);
const main = programFile('main');
const admin = programFile('admin');

const PROJECT = '0197f3a0-0000-7000-8000-000000000001';
const KEY = 'sk_sh_initial_key_0123456789abcdefghijklmnopq';
const METRICS_TOKEN = 'token-of-the-metrics-0123456789';

describe('secrets', () => {
  let dataDir: string;
  before(async () => {
    dataDir = await mkdtemp(join(tmpdir(), 'spanhouse-secrets-'));
  });
  after(() => rm(dataDir, { recursive: true, force: true }));

  it('are in no log line, not even in the most talkative, and in no file of the data', async () => {
    const env = {
      ...PROGRAM_ENV,
      PORT: '0',
      DATA_DIR: dataDir,
      LOG_LEVEL: 'debug',
      METRICS_TOKEN,
      SPANHOUSE_INIT_PROJECT_ID: PROJECT,
      SPANHOUSE_INIT_API_KEY: KEY,
    };
    const child = spawn(process.execPath, [main], { env, stdio: ['ignore', 'pipe', 'pipe'] });
    let out = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (out += String(chunk)));
    const until = Date.now() + unhurried(30_000);
    while (!/ready at/.test(out) && Date.now() < until && child.exitCode === null)
      await new Promise((resolve) => setTimeout(resolve, 50));
    const url = /ready at (http:\/\/[\d.:]+)/.exec(out)?.[1] ?? '';
    const secret = `words of a customer ${randomUUID()}`;
    const keys = `${url}/projects/${PROJECT}/api-keys`;
    try {
      const made = (await send(keys, 'POST', { key: KEY, body: { name: 'exporter' } })).json;
      const revoked = (await send(keys, 'POST', { key: KEY, body: { name: 'short-lived' } })).json;
      await send(`${keys}/${revoked.id}`, 'DELETE', { key: made.key });
      const unknown = 'sk_sh_somebody_elses_key_mistyped_0123456789';
      const span = { trace_id: randomUUID(), name: 'n', started_at: 1, input_data: secret };
      const requests: [string, string, unknown, string][] = [
        ['GET', '/spans', undefined, made.key],
        ['GET', '/spans', undefined, revoked.key],
        ['GET', '/spans', undefined, unknown],
        ['GET', `/spans?api_key=${made.key}`, undefined, made.key],
        ['GET', `/${made.key}/${encodeURIComponent(secret)}`, undefined, made.key],
        ['POST', '/spans', [span], made.key],
        ['POST', '/spans', [{ ...span, started_at: secret }], made.key],
        ['POST', '/spans', `[{"input_data": "${secret}`, made.key],
        ['POST', '/v1/tasks/secret/prompt/versions/ensure', { content: secret }, made.key],
        ['POST', '/v1/tasks/secret/prompt/versions/ensure', { content: secret, content_hash: secret }, made.key],
        ['GET', '/v1/prompts/secret', undefined, made.key],
        ['GET', '/metrics', undefined, METRICS_TOKEN],
        ['GET', '/metrics', undefined, `${METRICS_TOKEN}x`],
      ];
      const statuses: number[] = [];
      for (const [method, path, body, key] of requests)
        statuses.push((await send(url + path, method, { key, body })).status);
      expect(statuses).to.deep.equal([200, 401, 401, 200, 404, 200, 422, 400, 200, 422, 200, 200, 401]);
      child.kill('SIGTERM');
      const [code] = (await once(child, 'close')) as [number];
      expect(code).to.equal(0);
      expect(out.split('\n').length, 'requests are logged').to.be.greaterThan(requests.length);
      for (const text of [KEY, METRICS_TOKEN, made.key, revoked.key, unknown, secret, 'words of a customer'])
        expect(out, text).to.not.include(text);
      const files = await filesOf(dataDir);
      expect(files.length).to.be.greaterThan(3);
      for (const file of files) {
        const bytes = await readFile(file);
        for (const text of [KEY, made.key, revoked.key, METRICS_TOKEN])
          expect(bytes.includes(text.slice(12)), `${text} in ${file}`).to.equal(false);
      }
    } finally {
      if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL');
    }
  }).timeout(60_000);

  it('are looked up by an index', () => {
    const database = openDatabase(join(dataDir, DATABASE_FILE));
    const plan = database
      .prepare<[Buffer], { detail: string }>('EXPLAIN QUERY PLAN SELECT id FROM api_keys WHERE hash = ?')
      .all(Buffer.alloc(32));
    database.close();
    expect(plan.map(({ detail }) => detail).join()).to.match(/^SEARCH api_keys USING (COVERING )?INDEX/);
  });

  it('are managed by the admin program, which says what it does and answers JSON', async () => {
    const env = { ...process.env, DATA_DIR: dataDir };
    const json = async (...args: string[]) =>
      JSON.parse((await run(process.execPath, [admin, '--json', ...args], { env })).stdout);
    const { stdout: help } = await run(process.execPath, [admin, '--help'], { env });
    for (const verb of ['create-key', 'list-keys', 'revoke-key', 'create-project', 'create-user', '--json'])
      expect(help).to.include(verb);
    const user = await json('create-user', 'Ada', '--email', 'ada@example.org');
    expect(user).to.include({ name: 'Ada', email: 'ada@example.org' });
    const made = await json('create-key', '--user', user.id, '--name', 'ci');
    expect(made.key).to.match(/^sk_sh_[A-Za-z0-9_-]{43}$/);
    const listed = await json('list-keys');
    const shown = listed.find(({ id }: any) => id === made.id);
    expect(shown).to.include({ name: 'ci', prefix: made.key.slice(0, 12), last_used_at: null, user_id: user.id });
    expect(JSON.stringify(listed)).to.not.include(made.key);
    expect(await json('revoke-key', made.id)).to.deep.equal({ id: made.id, revoked: true });
    const again = await json('revoke-key', made.id).catch((error: unknown) => error);
    expect(again).to.include({ code: 1 }).and.to.have.property('stderr', 'There is no API key with this id\n');
  }).timeout(60_000);
});

async function filesOf(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
}
