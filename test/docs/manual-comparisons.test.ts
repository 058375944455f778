import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { parse } from 'yaml';
import { packageRoot } from '../../src/engine/files/schema-files.js';
import type { TestServer } from '../harness/server.js';
import { sharedServer } from '../harness/shared-server.js';
import { blocks, chapter } from './commands.js';
import { PROGRAM_ENV } from '../harness/program-files.js';

const execute = promisify(execFile);

describe('manual: compare two versions before release', function () {
  this.timeout(60_000);
  const text = chapter('comparisons');
  let server: TestServer;
  let folder: string;
  let env: NodeJS.ProcessEnv;
  before(async () => {
    server = await sharedServer();
    folder = await mkdtemp(join(tmpdir(), 'spanhouse-manual-'));
    env = { ...PROGRAM_ENV, SPANHOUSE_URL: server.url, SPANHOUSE_KEY: server.key };
  });
  after(async () => {
    await server?.dispose();
    await rm(folder, { recursive: true, force: true });
  });

  it('compares two experiments as it is written', async () => {
    const [program = ''] = blocks(text, 'js');
    const { stdout } = await execute(process.execPath, ['--input-type=module', '-e', program], { env });
    expect(stdout).to.match(/^## ❌ Comparison failed: new with old\n/);
    expect(stdout).to.contain('Dataset sums v1, 200 rows compared.').and.to.contain('size = small');
  });

  it('stops a regression in CI as it is written', async () => {
    const [, evaluation = ''] = blocks(text, 'js');
    const [rules = ''] = blocks(text, 'json');
    const [workflow = ''] = blocks(text, 'yaml');
    await writeFile(join(folder, 'eval.mjs'), evaluation);
    await writeFile(join(folder, 'gate.json'), rules);
    const { run } = parse(workflow).jobs.evaluate.steps.find((step: { run?: string }) => step.run !== undefined);
    const ci = (push: boolean) => {
      const [npx, spanhouse, ...args] = (run as string)
        .replace(/\$\{\{[^}]*\}\}/, push ? '--pin baseline' : '')
        .trim()
        .split(/\s+/);
      expect([npx, spanhouse]).to.deep.equal(['npx', 'spanhouse']);
      const program = [join(packageRoot(), 'scripts/spanhouse.mjs'), ...args];
      return execute(process.execPath, program, { env, cwd: folder });
    };
    expect((await ci(true)).stderr).to.contain('The tag baseline points to this experiment now.');
    expect((await ci(false)).stderr)
      .to.contain('baseline: passed.')
      .and.to.contain('correct: 100.0%');
    expect(await readFile(join(folder, 'evaluation.xml'), 'utf8')).to.contain('<testsuites name="spanhouse" tests="3"');
  });
});
