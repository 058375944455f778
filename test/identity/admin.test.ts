import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { feedbackApi } from '../feedback/feedback-api.js';
import { bootServer } from '../harness/server.js';
import { LinkedPrompt, Visitor } from '../review/linked-prompt.js';

const run = promisify(execFile);
const program = join(import.meta.dirname, '../../scripts/admin.js');

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
});
