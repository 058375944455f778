import { join } from 'node:path';
import BetterSqlite3 from 'better-sqlite3';
import { expect } from 'chai';
import { DATABASE_FILE } from '../../src/engine/metadata/database.js';
import { bootServer, type TestServer } from '../harness/server.js';
import { admin, ConsoleBrowser } from './console-browser.js';

const HOUR = 3600 * 1e6;

describe('what a server tidies up at its start', function () {
  this.timeout(60_000);
  let server: TestServer;
  let later = 0;
  const boot = (dataDir?: string) =>
    bootServer({ signIns: { now: () => Date.now() * 1000 + later }, ...(dataDir === undefined ? {} : { dataDir }) });
  beforeEach(async () => {
    server = await boot();
  });
  afterEach(async () => {
    later = 0;
    await server.dispose();
  });

  function change(sql: string): void {
    const database = new BetterSqlite3(join(server.dataDir, DATABASE_FILE));
    try {
      database.exec(sql);
    } finally {
      database.close();
    }
  }
  /** Has the store refuse to remove these rows, whatever the reason. */
  const keep = (table: string, which = '1') =>
    change(
      `CREATE TRIGGER keep_${table} BEFORE DELETE ON ${table} WHEN ${which} BEGIN SELECT RAISE(ABORT, 'kept'); END`,
    );
  async function restart(): Promise<void> {
    await server.stop();
    server = await boot(server.dataDir);
  }
  async function invite(name: string): Promise<string> {
    const { json } = await server.request('POST', `/projects/${server.projectId}/invites`, { body: { name } });
    return json.user.id as string;
  }
  const signIn = async () => (await new ConsoleBrowser(server).signIn({ key: server.key })).status;
  const names = async () =>
    ((await admin(server.dataDir, 'list-users')) as { name: string }[]).map(({ name }) => name).sort();

  it('keeps neither the start nor a sign-in waiting for an invitation that cannot go', async () => {
    const ann = await invite('Ann');
    await invite('Ben');
    keep('api_keys', `OLD.user_id = '${ann}'`);
    later = 2 * HOUR;
    await restart();
    expect(await names()).to.deep.equal(['Ann', 'Owner']);
    expect(await signIn()).to.equal(204);
  });

  it('keeps neither waiting for sign-ins of which none can go', async () => {
    await invite('Ann');
    keep('sign_ins');
    later = 2 * HOUR;
    await restart();
    expect(await signIn()).to.equal(204);
  });

  it('keeps no start waiting for a deletion that was never ordered, or for what judges looked at', async () => {
    change(`INSERT INTO deletions (project_id, what, target, ordered, upto, created_at) VALUES ('p', 'spans', 't', 0, 0, 0);
      INSERT INTO judge_feed (id, began_at, arrived_at) VALUES (1, 0, 0)`);
    keep('deletions');
    keep('judge_feed');
    await restart();
    expect(await signIn()).to.equal(204);
  });
});
