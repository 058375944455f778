import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { parse } from 'yaml';
import { blocks, chapter } from '../docs/commands.js';
import { JudgeBench, type JudgeApi, type Json } from '../judges/judge-api.js';
import { answer, failing, passing, type Asked, type Script } from '../judges/model-endpoint.js';
import type { Gate } from '../../scripts/ci/experiments.js';
import { judgeResults } from '../../scripts/ci/judging.js';
import { runCi } from './ci-program.js';
import { PROGRAM_ENV } from '../harness/program-files.js';

const ROWS = 12;
const MODEL = 'gpt-4o';
const MANUAL = chapter('comparisons');

describe('spanhouse ci of prompts that the server runs', function () {
  this.timeout(180_000);
  let bench: JudgeBench;
  let api: JudgeApi;
  let judge: Json;
  let folder: string;
  before(async () => {
    bench = await JudgeBench.boot();
    ({ api } = bench);
    await api.expect(201, 'POST', '/v1/datasets', { name: 'qa' });
    const rows = Array.from({ length: ROWS }, (_none, index) => ({ id: `r${index + 1}`, question: `Q${index + 1}` }));
    await api.expect(200, 'POST', '/v1/datasets/qa/versions', { rows });
    for (const content of ['Good: {{question}}', 'Bad: {{question}}', 'Fine: {{question}}'])
      await api.expect(200, 'POST', '/v1/tasks/support/prompt/versions/ensure', { content });
    judge = await bench.make({ enabled: false });
    folder = await mkdtemp(join(tmpdir(), 'spanhouse-ci-'));
    const metrics = [{ name: `judge:${judge['id']}`, rule: 'no_regression' }];
    await writeFile(join(folder, 'gate.json'), JSON.stringify({ metrics, run: { model: MODEL, max_cost: 2 } }));
    await writeFile(join(folder, 'twice.json'), JSON.stringify({ metrics, run: { tags: ['baseline'] } }));
  });
  beforeEach(() => bench.endpoint.reset(answered));
  after(async () => {
    await bench?.dispose();
    await rm(folder, { recursive: true, force: true });
  });

  /** The model says what the judge is to find. */
  function answered({ body, last }: Asked): Script {
    if (body.model !== MODEL) return answer(/wrong/.test(last) ? failing : passing);
    return { do: 'answer', content: `${last.startsWith('Bad') ? 'wrong' : 'right'}: ${last}` };
  }

  const env = () => ({ ...PROGRAM_ENV, SPANHOUSE_URL: bench.server.url, SPANHOUSE_KEY: bench.server.key });
  const ci = (args: readonly string[], interruptAt?: string) =>
    runCi(args, { cwd: folder, env: env(), ...(interruptAt !== undefined && { interruptAt }) });
  const gate = (version: string | number, ...more: string[]) => {
    const rules = more.includes('--rules') ? [] : ['--rules', 'gate.json'];
    return ['--dataset', 'qa@latest', '--prompt', `support@${version}`, ...rules, ...more];
  };
  const newest = async (): Promise<Json> => {
    const { experiments } = await api.expect(200, 'GET', 'experiments?limit=1');
    return api.expect(200, 'GET', `experiments/${experiments[0].id}`);
  };

  it('runs, judges and pins a baseline, which later versions are judged and compared by', async () => {
    const lacking = await ci(gate(1));
    expect(lacking).to.include({ code: 3, stdout: '' });
    expect(lacking.stderr).to.contain('The baseline baseline does not exist. To make it, run once with --pin');
    expect(bench.endpoint.asked).to.have.length(0);

    bench.endpoint.reset((asked) =>
      asked.body.model !== MODEL && asked.last.includes('Q12') ? { do: 'status', status: 400 } : answered(asked),
    );
    const first = await ci(gate(1, '--pin', 'baseline'));
    expect(first, first.stderr).to.include({ code: 0 });
    expect(first.stderr).to.contain('could not evaluate 1 of the results');
    expect(first.stderr).to.contain(
      'The server runs version 1 of support on 12 rows of version 1: 12 calls of gpt-4o, about $',
    );
    const baseline = await newest();
    expect(baseline).to.deep.include({ status: 'finished', tags: ['baseline'], name: 'support v1, gpt-4o' });
    expect(baseline['judges'][0]).to.include({ judge_id: judge['id'], evaluated: ROWS - 1, failed: 1 });
    bench.endpoint.reset(answered);

    const same = await ci(gate('latest', '--name', 'fine', '--markdown', 'report.md'));
    expect(same, same.stderr).to.include({ code: 0 });
    expect(same.stderr).to.contain('Cost: candidate $').and.to.contain(', baseline $').and.to.contain(', judges $');
    const again = await api.expect(200, 'GET', `experiments/${baseline['id']}`);
    expect(again.judges[0]).to.include({ evaluated: ROWS, failed: 0 });
    const candidate = await newest();
    expect(candidate['judges'][0].judge_version).to.equal(baseline['judges'][0].judge_version);
    expect(candidate['subject'].prompt_version).to.equal(3);
    expect(await readFile(join(folder, 'report.md'), 'utf8')).to.match(
      /^## ✅ Comparison passed: fine with support v1, gpt-4o \(baseline\)\n/,
    );

    const worse = await ci(gate(2, '--pin', 'baseline'));
    expect(worse, worse.stderr).to.include({ code: 1 });
    expect(worse.stderr).to.contain('  Polite: 0.0%, before 100.0%').and.to.contain('It is worse (p ');
    expect((await newest())['tags']).to.deep.equal([]);
  });

  it('runs as the manual says', async () => {
    const dataset = '/v1/datasets/support/tickets';
    await api.expect(201, 'POST', '/v1/datasets', { name: 'support/tickets' });
    await api.expect(200, 'POST', `${dataset}/versions`, { rows: [{ id: 't1', question: 'Where is my order?' }] });
    await api.expect(200, 'POST', `${dataset}/tags/production:pin`, { version_number: 1 });
    const prompt = { content: 'Good: {{question}}' };
    await api.expect(200, 'POST', '/v1/tasks/ticket-answer/prompt/versions/ensure', prompt);
    await api.expect(200, 'POST', 'prompts/ticket-answer/tags/candidate:pin', { version: 1 });
    const [, rules = ''] = blocks(MANUAL, 'json');
    await writeFile(join(folder, 'manual.json'), rules.replace(/judge:[0-9a-f-]+/, `judge:${judge['id']}`));
    const [, step = ''] = blocks(MANUAL, 'yaml');
    const [npx, spanhouse, command, ...args] = (parse(step)[0].run as string)
      .replace('gate.json', 'manual.json')
      .split(' ');
    expect([npx, spanhouse, command]).to.deep.equal(['npx', 'spanhouse', 'ci']);
    const ran = await ci([...args, '--pin', 'baseline']);
    expect(ran, ran.stderr).to.include({ code: 0 });
    expect(ran.stderr).to.contain('The tag baseline points to this experiment now.');
  });

  it('says why it could not run', async () => {
    const { total } = await api.expect(200, 'GET', 'experiments');
    const twice = await ci(gate(1, '--rules', 'twice.json'));
    expect(twice).to.include({ code: 3 });
    expect(twice.stderr).to.contain('twice.json: run must not have tags: the command sets it');
    expect((await ci([...gate(1), '--', 'true'])).stderr).to.contain('Give exactly one of these');
    expect((await api.expect(200, 'GET', 'experiments')).total).to.equal(total);
    bench.endpoint.reset(() => ({ do: 'status', status: 404, body: { error: { message: 'no such model' } } }));
    const failed = await ci(gate(1));
    expect(failed, failed.stderr).to.include({ code: 3 });
    expect(failed.stderr).to.match(/The experiment was canceled: .*404/);
  });

  it('accepts nothing that has no sound result, or that no judge evaluated', async () => {
    const { id } = await api.expect(201, 'POST', 'experiments', { name: 'errors', dataset: 'qa' });
    await api.expect(200, 'POST', `experiments/${id}/results`, [{ row_id: 'r1', error: 'broken' }]);
    await api.expect(200, 'POST', `experiments/${id}:finish`);
    const resume = ['--resume', id, '--rules', 'gate.json'];
    const first = await ci([...resume, '--baseline', 'none', '--pin', 'none']);
    expect(first, first.stderr).to.include({ code: 3 });
    expect(first.stderr).to.contain('no result without an error: it cannot become the baseline none.');
    const unjudged = await ci(resume);
    expect(unjudged, unjudged.stderr).to.include({ code: 3 });
    expect(unjudged.stderr).to.contain('The judge Polite evaluated no result');
    expect((await ci([...resume, '--name', 'other'])).stderr).to.contain('--name cannot be combined with --resume');
  });

  it('ends where a judge can evaluate no more', async () => {
    const judging = (judged: Json) => {
      const figures = { judge_id: 'j', judge_version: 'v', name: 'Polite', evaluated: 0, pending: 0, ...judged };
      const experiment = { id: 'e', dataset: { id: 'd' }, experiments: [{ id: 'b' }], judges: [figures] };
      const remote = { get: async () => experiment, post: async () => ({ judge_version: 'v', left: 5 }) };
      const rules = { comparison: { metrics: [{ name: 'judge:j' }] }, run: {} };
      return judgeResults({ remote, at: '', rules, file: '', baseline: 'b' } as unknown as Gate, 'e', true).then(
        () => 'judged',
        (error: unknown) => (error as Error).message,
      );
    };
    expect(await judging({ available: false, failed: 0 })).to.contain('evaluated no result');
    expect(await judging({ available: true, failed: 3 })).to.contain('failed on the same results again');
  });

  it('resumes where it was interrupted', async () => {
    let release: () => void = () => undefined;
    const after = new Promise<void>((resolve) => (release = resolve));
    bench.endpoint.reset((asked) => ({ ...answered(asked), after }) as Script);
    const interrupted = await ci(gate(3, '--junit', 'j.xml', '--strict'), 'Experiment support v3, gpt-4o (');
    expect(interrupted, interrupted.stderr).to.include({ code: 3 });
    const { id, status } = await newest();
    expect(status).to.equal('running');
    const resume = `To resume: spanhouse ci --resume ${id} --rules gate.json --baseline baseline --junit j.xml --strict`;
    expect(interrupted.stderr).to.contain(`Interrupted by SIGINT. The server continues its work, unless you cancel`);
    expect(interrupted.stderr).to.contain(resume);
    release();
    const resumed = await ci(resume.split(' ci ')[1]?.split(' ') ?? []);
    expect(resumed, resumed.stderr).to.include({ code: 0 });
    expect(await newest()).to.include({ id, status: 'finished' });
  });
});
