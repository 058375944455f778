import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { feedbackApi } from '../feedback/feedback-api.js';
import { bootServer } from '../harness/server.js';
import { LinkedPrompt, Visitor } from '../review/linked-prompt.js';
import { programFile } from '../harness/program-files.js';

const run = promisify(execFile);
const program = programFile('admin');

/** What the admin program answers, as JSON, or what it says on a failure. */
async function admin(dataDir: string, ...args: string[]): Promise<any> {
  const env = { ...process.env, DATA_DIR: dataDir };
  return run(process.execPath, [program, '--json', ...args], { env }).then(
    ({ stdout }) => JSON.parse(stdout),
    (failed: unknown) => (failed as { stderr: string }).stderr,
  );
}

describe('the admin program', () => {
  it('does not count reviewers of feedback links among the users', async () => {
    const server = await bootServer();
    try {
      const prompt = await LinkedPrompt.make(feedbackApi(server));
      const [span] = await prompt.complete(1);
      const review = { completion_id: span!.id, thumbs_up: true, reviewer_name: 'Ann' };
      expect((await new Visitor((await prompt.link()).url).postJson(review)).status).to.equal(200);
      const users = await admin(server.dataDir, 'list-users');
      expect(users.map(({ name }: { name: string }) => name)).to.deep.equal(['Owner']);
      expect(await admin(server.dataDir, 'create-key', '--name', 'ci')).to.include({
        name: 'ci',
        user_id: users[0].id,
      });
      await admin(server.dataDir, 'create-user', 'Ben');
      expect(await admin(server.dataDir, 'create-key')).to.equal(
        'There is more than one user: name it with --user (see list-users)\n',
      );
    } finally {
      await server.dispose();
    }
  }).timeout(60_000);

  it('says what retention removes, and sets it', async () => {
    const server = await bootServer();
    try {
      const at = (days: number) => new Date(Date.now() - days * 86_400_000).toISOString();
      const spans = [40, 20].map((days) => ({ trace_id: randomUUID(), name: 'a', started_at: at(days) }));
      await server.request('POST', '/spans', { body: spans });
      const retention = (...args: string[]) => admin(server.dataDir, 'retention', ...args);
      expect(await retention('--days', '30')).to.include({ days: 30, retention_days: null, traces: 1, spans: 1 });
      expect(await retention()).to.include({ days: null, traces: 0 });
      expect(await retention('--days', '10', '--set')).to.include({ retention_days: 10 });
      expect(await retention()).to.include({ days: 10, retention_days: 10, traces: 2, kept_by_tag: 0 });
      expect(await retention('--days', 'forever', '--set')).to.include({ retention_days: null });
      for (const wrong of [['--days', '0'], ['--days', '1.5'], ['--days', 'x'], ['--set'], ['--days', 'forever']])
        expect(await retention(...wrong), wrong.join(' ')).to.match(/days|forever/);
      const keys = await admin(server.dataDir, 'list-keys');
      expect(
        keys.map(({ name }: { name: string }) => name),
        'keys that are left',
      ).to.deep.equal(['Initial key']);
      await server.stop();
      expect(await retention('--days', '30')).to.match(/^No server responds on this DATA_DIR\. Start it/);
    } finally {
      await server.dispose();
    }
  }).timeout(60_000);

  it('asks the server of the data, whatever is in front of it', async () => {
    // Nothing answers at the port that stands for a proxy.
    const server = await bootServer({ env: { PUBLIC_URL: 'http://127.0.0.1:9' } });
    try {
      expect(await admin(server.dataDir, 'retention', '--days', '30')).to.include({ days: 30, traces: 0 });
      const none = randomUUID();
      expect(await admin(server.dataDir, 'retention', '--project', none)).to.match(/^There is no project with this id/);
    } finally {
      await server.dispose();
    }
  }).timeout(60_000);

  it('says where no data is, and makes none but to create a project or a user', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'spanhouse-admin-'));
    const dataDir = join(folder, 'data');
    try {
      const id = '0197f3a0-0000-7000-8000-000000000001';
      const calls = [['list-keys'], ['list-users'], ['list-projects'], ['create-key']];
      for (const args of [...calls, ['revoke-key', id], ['delete-project', id]])
        expect(await admin(dataDir, ...args), args[0]).to.equal(
          `No Spanhouse data in ${dataDir}; set DATA_DIR to the folder of the server\n`,
        );
      expect(await readdir(folder)).to.deep.equal([]);
      expect(await admin(dataDir, 'create-project', 'First', '--id', id)).to.include({ id, name: 'First' });
      expect(await admin(dataDir, 'list-projects')).to.have.length(1);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  }).timeout(60_000);
});
