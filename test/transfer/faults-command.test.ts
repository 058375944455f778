import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { stat } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { uuid } from '../harness/checked-api.js';
import { makeProject } from '../harness/projects.js';
import { bootServer, type TestServer } from '../harness/server.js';
import { bootTarget, fill, inFolder } from './moved-project.js';
import { programFile } from '../harness/program-files.js';

const run = promisify(execFile);
const program = programFile('admin');

interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** The admin program with the key of a server in its environment; null: without any. */
async function admin(server: TestServer | null, ...args: string[]): Promise<Ended> {
  return adminWith(server === null ? {} : { SPANHOUSE_KEY: server.key, SPANHOUSE_URL: server.url }, ...args);
}

async function adminWith(own: Readonly<Record<string, string>>, ...args: string[]): Promise<Ended> {
  const { SPANHOUSE_KEY: _key, SPANHOUSE_API_KEY: _apiKey, ...env } = process.env;
  return run(process.execPath, [program, ...args], { env: { ...env, ...own } }).then(
    ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
    (failed: unknown) => failed as Ended,
  );
}

describe('the admin program moves a project', function () {
  this.timeout(60_000);
  let source: TestServer;
  let target: TestServer;
  before(async () => {
    [source, target] = [await bootServer(), await bootTarget()];
    await fill(source);
  });
  after(async () => {
    await source.dispose();
    await target.dispose();
  });

  it('takes the key from SPANHOUSE_KEY, else from SPANHOUSE_API_KEY, its old name', () =>
    inFolder(async (file) => {
      const exportWith = (env: Readonly<Record<string, string>>) =>
        adminWith({ SPANHOUSE_URL: source.url, ...env }, 'export', source.projectId, file(`${randomUUID()}.ndjson`));
      expect(await exportWith({ SPANHOUSE_API_KEY: source.key })).to.include({ code: 0 });
      expect(await exportWith({ SPANHOUSE_KEY: source.key, SPANHOUSE_API_KEY: 'sk_other' })).to.include({ code: 0 });
      expect((await exportWith({})).stderr).to.equal(
        'Give an API key of the project with --key, or set SPANHOUSE_KEY\n',
      );
      const { stdout } = await adminWith({ SPANHOUSE_API_KEY: source.key }, 'export', '--help');
      expect(stdout).to.include('SPANHOUSE_KEY').and.not.include(source.key);
    }));

  it('by a file that nobody else can read, and says what became of it', () =>
    inFolder(async (file) => {
      // Set there by itself, it might remove what comes in.
      await source.request('PATCH', `/projects/${source.projectId}`, { body: { retention_days: 36_000 } });
      const exported = await admin(source, 'export', source.projectId, file('p.ndjson.gz'));
      expect(exported).to.include({ code: 0 });
      expect(exported.stdout).to.match(/prompt_versions/);
      expect((await stat(file('p.ndjson.gz'))).mode & 0o777).to.equal(0o600);
      const imported = await admin(target, 'import', file('p.ndjson.gz'), '--project', target.projectId);
      expect(imported.stdout).to.match(/All \d+ figures of the lists match the file\./);
      expect(imported.stdout).to.contain(
        'keeps its traces for 36000 days, this one for ever. To set it here, too: npm run',
      );
      const { json: project } = await target.request('GET', `/projects/${target.projectId}`);
      expect(project).to.include({ retention_days: null });
      expect(imported.code).to.equal(0);
      const other = { trace_id: uuid(700), name: 'more', started_at: '2026-01-01T00:00:00Z' };
      await target.request('POST', '/spans', { body: [other] });
      const differing = await admin(target, '--json', 'import', file('p.ndjson.gz'));
      expect(differing.code).to.equal(1);
      const { figures } = JSON.parse(differing.stdout) as { figures: { figure: string; same: boolean }[] };
      expect(figures.filter(({ same }) => !same).map(({ figure }) => figure)).to.include('spans count');
    }));

  it('not into a second project of the same installation, and says so', () =>
    inFolder(async (file) => {
      await admin(source, 'export', source.projectId, file('p.ndjson'));
      const { key } = makeProject(source.dataDir);
      const { code, stderr } = await admin(source, 'import', file('p.ndjson'), '--key', key);
      expect(stderr).to.match(
        /line 2 \(prompts\/id\) belongs to another project of this installation: a project can be imported only once per installation\. What came before it is imported\.$/m,
      );
      expect(code).to.equal(1);
    }));

  it('on the server of this machine, whatever its public URL', () =>
    inFolder(async (file) => {
      const own = {
        HOST: '0.0.0.0',
        PORT: String(source.port),
        PUBLIC_URL: 'http://127.0.0.1:9',
        SPANHOUSE_KEY: source.key,
      };
      const { code, stderr } = await adminWith(own, 'export', source.projectId, file('p.ndjson'));
      expect(code, stderr).to.equal(0);
      expect((await adminWith({ ...own, PORT: '0' }, 'import', file('p.ndjson'))).stderr).to.match(/^PORT is 0.*--url/);
    }));

  it('not by a proxy that answers in its place, and says so', async () => {
    const proxy = createServer((request, response) => {
      const isFirst = request.headers.authorization === 'Bearer 1';
      response.writeHead(isFirst ? 200 : 302, { 'content-type': 'text/html; charset=utf-8', location: '/login' });
      response.end('<html>Sign in</html>');
    });
    proxy.listen(0, '127.0.0.1');
    await once(proxy, 'listening');
    try {
      const url = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
      for (const [key, status] of [
        ['1', 200],
        ['2', 302],
      ]) {
        const { code, stderr } = await adminWith(
          {},
          'export',
          source.projectId,
          'x',
          '--url',
          url,
          '--key',
          String(key),
        );
        expect(stderr).to.match(
          new RegExp(`^GET ${url}/whoami returned ${status} and text/html instead of JSON: .*--url$`, 'm'),
        );
        expect(code).to.equal(1);
      }
    } finally {
      proxy.close();
    }
  });

  it('with a key of it alone, and over no file', () =>
    inFolder(async (file) => {
      const refused: readonly (readonly [RegExp, TestServer | null, readonly string[]])[] = [
        [/^Give an API key of the project/, null, ['export', source.projectId, file('x')]],
        [/^The key is one of the project .*: give one of/, source, ['export', target.projectId, file('x')]],
        [/already exists: remove it/, source, ['export', source.projectId, import.meta.filename]],
        [/cannot be written: /, source, ['export', source.projectId, file('none/x')]],
        [/refused with 401/, source, ['export', source.projectId, file('x'), '--key', 'sk_sh_wrong']],
        [/cannot be read: /, source, ['import', file('x')]],
      ];
      for (const [message, server, args] of refused) {
        const { code, stderr } = await admin(server, ...args);
        expect(stderr).to.match(message);
        expect(code, stderr).to.equal(1);
      }
    }));
});
