import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { experimentApi, type ExperimentApi } from '../experiments/experiment-api.js';
import { runCi, type Run } from './ci-program.js';
import { PROGRAM_ENV } from '../harness/program-files.js';

/** Stores a result of each of 40 rows, of which so many are correct. */
const EVALUATION = `
const { SPANHOUSE_URL, SPANHOUSE_KEY, SPANHOUSE_PROJECT_ID, SPANHOUSE_EXPERIMENT_ID, CORRECT } = process.env;
if (CORRECT === 'crash') process.exit(7);
if (CORRECT.startsWith('revoke ')) {
  const path = '/projects/' + SPANHOUSE_PROJECT_ID + '/api-keys/' + CORRECT.slice(7);
  const { status } = await fetch(SPANHOUSE_URL + path, { method: 'DELETE', headers: { authorization: 'Bearer ' + SPANHOUSE_KEY } });
  process.exit(status === 204 ? 0 : 8);
}
const results = Array.from({ length: 40 }, (_, row) => ({ row_id: 'r' + (row + 1), output_data: 'x', scores: { correct: row < Number(CORRECT) } }));
const response = await fetch(SPANHOUSE_URL + '/projects/' + SPANHOUSE_PROJECT_ID + '/experiments/' + SPANHOUSE_EXPERIMENT_ID + '/results', {
  method: 'POST',
  headers: { authorization: 'Bearer ' + SPANHOUSE_KEY, 'content-type': 'application/json' },
  body: JSON.stringify(CORRECT === 'nothing' ? [] : results),
});
if (!response.ok) throw new Error(await response.text());
console.log('evaluated');
`;

describe('spanhouse ci', function () {
  this.timeout(180_000);
  let api: ExperimentApi;
  let folder: string;
  before(async () => {
    api = await experimentApi();
    await api.dataset('support', 40);
    await api.ok('POST', '/v1/datasets/support/tags/production:pin', { version_number: 1 });
    folder = await mkdtemp(join(tmpdir(), 'spanhouse-ci-'));
    await writeFile(join(folder, 'eval.mjs'), EVALUATION);
    await writeFile(
      join(folder, 'gate.json'),
      JSON.stringify({ metrics: [{ name: 'correct', rule: 'no_regression' }] }),
    );
    const strict = { metrics: [{ name: 'correct', rule: 'not_worse', margin: 0.01 }] };
    await writeFile(join(folder, 'margin.json'), JSON.stringify(strict));
    await writeFile(join(folder, 'wrong.json'), JSON.stringify({ metrics: [{ name: 'correct', rule: 'not_worse' }] }));
  });
  after(async () => {
    await api?.dispose();
    await rm(folder, { recursive: true, force: true });
  });

  function ci(correct: string | number, ...more: string[]): Promise<Run> {
    const rules = more.includes('--rules') ? [] : ['--rules', 'gate.json'];
    const args = ['--dataset', 'support@production', ...rules, ...more, '--', process.execPath, 'eval.mjs'];
    const env = {
      ...{ ...PROGRAM_ENV, SPANHOUSE_URL: api.server.url, SPANHOUSE_KEY: api.server.key },
      ...{ CORRECT: String(correct), GITHUB_STEP_SUMMARY: join(folder, 'summary.md'), GITHUB_REF_NAME: 'main' },
    };
    return runCi(args, { cwd: folder, env });
  }
  const newest = async () => (await api.ok('GET', '~?limit=1')).experiments[0];

  it('needs a baseline, which the first run can become', async () => {
    const without = await ci(38);
    expect(without).to.include({ code: 3 });
    expect(without.stderr).to.contain(
      'The baseline baseline does not exist. To make it, run once with --pin baseline.',
    );
    expect((await newest()).status).to.equal('canceled');
    const first = await ci(38, '--pin', 'baseline');
    expect(first.stderr).to.contain('The tag baseline points to this experiment now.');
    expect(first).to.include({ code: 0, stdout: 'evaluated\n' });
    expect(await newest()).to.deep.include({ status: 'finished', tags: ['baseline'], dataset_version: 1 });
    expect((await newest()).subject).to.include({ branch: 'main' });
  });

  it('passes without a regression, and writes reports', async () => {
    const reports = ['--junit', join(folder, 'junit.xml'), '--markdown', join(folder, 'report.md')];
    const passed = await ci(37, ...reports, '--name', 'harmless');
    expect(passed, passed.stderr).to.include({ code: 0 });
    expect(passed.stderr).to.contain(': passed.').and.to.contain('No regression was found.');
    expect(await readFile(join(folder, 'junit.xml'), 'utf8')).to.contain('failures="0"');
    const report = await readFile(join(folder, 'report.md'), 'utf8');
    expect(report).to.match(/^## ✅ Comparison passed: harmless with main.* \(baseline\)$/m);
    expect(await readFile(join(folder, 'summary.md'), 'utf8')).to.equal(`${report}\n`);
    expect((await newest()).tags).to.deep.equal([]);
  });

  it('fails with a regression, and pins nothing', async () => {
    const failed = await ci(20, '--pin', 'baseline');
    expect(failed, failed.stderr).to.include({ code: 1 });
    expect(failed.stderr).to.contain('It is worse (p ');
    expect((await newest()).tags).to.deep.equal([]);
  });

  it('is undecided where the rows do not tell, which fails only if it is to', async () => {
    const undecided = await ci(36, '--rules', 'margin.json');
    expect(undecided, undecided.stderr).to.include({ code: 0 });
    expect(undecided.stderr).to.contain(': undecided.').and.to.contain('rows would show it');
    expect((await ci(36, '--rules', 'margin.json', '--strict')).code).to.equal(2);
  });

  it('pins only what passed', async () => {
    const undecided = await ci(36, '--rules', 'margin.json', '--pin', 'baseline');
    expect(undecided, undecided.stderr).to.include({ code: 0 });
    expect((await newest()).tags).to.deep.equal([]);
    const unknown = await ci(38, '--baseline', '00000000-0000-4000-8000-000000000000', '--pin', 'other');
    expect(unknown, unknown.stderr).to.include({ code: 3, stdout: '' });
    expect(unknown.stderr).to.contain('There is no experiment with the id');
    expect((await newest()).tags).to.deep.equal([]);
  });

  it('cuts long names by characters, and says it in words when its key is deleted meanwhile', async () => {
    const made = await api.ok('POST', `/projects/${api.server.projectId}/api-keys`, { name: 'short' });
    const revoked = await ci(`revoke ${made.id}`, '--key', made.key, '--name', `${'x'.repeat(199)}😀😀`);
    expect(revoked, revoked.stderr).to.include({ code: 3 });
    expect(revoked.stderr).to.contain(
      'The server rejected the API key: it is invalid, has expired, or was deleted during the run.',
    );
    expect(revoked.stderr).not.to.match(/^ +at /m);
    expect((await newest()).name).to.equal(`${'x'.repeat(199)}😀`);
  });

  it('says why it could not run', async () => {
    const crashed = await ci('crash');
    expect(crashed).to.include({ code: 3 });
    expect(crashed.stderr).to.contain('The command failed with exit code 7.');
    expect((await newest()).status).to.equal('canceled');
    expect((await ci('nothing')).stderr).to.contain('The command stored no result of the experiment');
    const wrong = await ci(38, '--rules', 'wrong.json');
    expect(wrong).to.include({ code: 3, stdout: '' });
    expect(wrong.stderr).to.contain('wrong.json: /metrics/0/margin is required by not_worse');
    expect((await ci(38, '--rules', 'none.json')).code).to.equal(3);
    expect((await ci(38, '--key', 'sk_wrong')).code).to.equal(3);
  });
});
