import { expect } from 'chai';
import { sharedServer } from '../harness/shared-server.js';
import type { TestServer } from '../harness/server.js';
import { figuresOf, ImportFolder, projectOn } from './importing.js';
import { runImportProgram } from './import-program.js';
import { claudeCodeSession, SPANS_OF_TURN } from './transcripts.js';

describe('spanhouse import', function () {
  this.timeout(120_000);
  let shared: TestServer;
  let server: TestServer;
  let folder: ImportFolder;
  before(async () => {
    [shared, folder] = [await sharedServer(), await ImportFolder.make()];
    server = projectOn(shared);
    await folder.write(
      '.claude/projects/shop/s.jsonl',
      claudeCodeSession({ id: '0199b1f0-0000-7000-8000-000000000001', turns: 1 }),
    );
  });
  after(async () => {
    await folder.remove();
    await shared.dispose();
  });

  const run = (env: Readonly<Record<string, string>>, ...args: string[]) =>
    runImportProgram(['--from', 'claude-code', ...args], { HOME: folder.path, ...env });

  it('needs a key, but not to try it', async () => {
    const [without, tried] = await Promise.all([run({}), run({}, '--dry-run')]);
    expect(without).to.deep.include({
      code: 3,
      stderr: 'Give an API key of the project with --key, or set SPANHOUSE_KEY\n',
    });
    expect(tried.code, tried.stderr).to.equal(0);
    expect(tried.stdout).to.match(/^1 transcripts in .*\n[^\n]*\n\s+1 +4 .*\nNothing was sent \(--dry-run\)\.\n$/);
  });

  it('reads the transcripts of the user, says what came of it and where it goes on', async () => {
    const env = { SPANHOUSE_URL: server.url, SPANHOUSE_KEY: server.key };
    const { code, stdout, stderr } = await run(env);
    expect(code, stderr + stdout).to.equal(0);
    expect(stdout).to.match(/spans +4 +4 +yes/);
    expect(stdout).to.match(new RegExp(`Noted in ${folder.path}/\\.local/state/spanhouse/import-[0-9a-f]+\\.json`));
    expect((await figuresOf(server)).count).to.equal(SPANS_OF_TURN);
    await folder.write('.claude/projects/shop/t.jsonl', 'no JSON\n');
    const again = await run(env, '--json');
    expect(again.code, again.stderr).to.equal(1);
    expect(JSON.parse(again.stdout).left).to.have.length(1);
  });

  it('leaves a project alone whose judges would evaluate everything', async () => {
    const judge = { name: 'Strict', prompt: 'Is it good?', evaluation_type: 'binary' };
    const made = await server.request('POST', `/projects/${server.projectId}/judges`, { body: judge });
    expect(made.status, JSON.stringify(made.json)).to.equal(201);
    const env = { SPANHOUSE_URL: server.url, SPANHOUSE_KEY: server.key };
    const { code, stderr } = await run(env);
    expect(code).to.equal(3);
    expect(stderr).to.match(/judges that evaluate what arrives, which costs money: Strict\. Disable them/);
  });
});
