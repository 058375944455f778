import { expect } from 'chai';
import { eventually, JudgeBench, type JudgeApi, type Json } from '../judges/judge-api.js';
import { answer, failing, passing } from '../judges/model-endpoint.js';

const ROWS = 40;

describe('comparisons by verdicts of judges', function () {
  this.timeout(120_000);
  let bench: JudgeBench;
  let api: JudgeApi;
  let candidate: Json;
  let baseline: Json;
  before(async () => {
    bench = await JudgeBench.boot();
    ({ api } = bench);
    await api.expect(201, 'POST', '/v1/datasets', { name: 'qa' });
    const rows = Array.from({ length: ROWS }, (_none, index) => ({ id: `r${index + 1}`, question: `Q${index + 1}` }));
    await api.expect(200, 'POST', '/v1/datasets/qa/versions', { rows });
    baseline = await experiment('before');
    candidate = await experiment('after');
    bench.endpoint.script = ({ last }) => answer(/after of \d\b/.test(last) ? failing : passing);
  });
  after(() => bench?.dispose());

  async function experiment(name: string): Promise<Json> {
    const made = await api.expect(201, 'POST', 'experiments', { name, dataset: 'qa' });
    const results = Array.from({ length: ROWS }, (_none, index) => ({
      ...{ row_id: `r${index + 1}`, output_data: `${name} of ${index + 1}` },
    }));
    await api.expect(200, 'POST', `experiments/${made['id']}/results`, results);
    return api.expect(200, 'POST', `experiments/${made['id']}:finish`);
  }
  const run = (judge: Json, of: Json, judge_version?: string) =>
    api.expect(202, 'POST', `judges/${judge['id']}:run`, { experiment_id: of['id'], judge_version });
  const judged = (of: Json) =>
    eventually(
      () => api.expect(200, 'GET', `experiments/${of['id']}`),
      ({ judges }) => judges[0]?.evaluated === ROWS,
    );
  const compare = (judge: Json, more: Json = {}) =>
    api.expect(201, 'POST', 'comparisons', {
      ...{ candidate: candidate['id'], baseline: baseline['id'] },
      ...{ metrics: [{ name: `judge:${judge['id']}`, rule: 'no_regression' }], ...more },
    });

  it('says which call has the other judged by the same version, and then what they are', async () => {
    const judge = await bench.make();
    const none = await compare(judge);
    expect(none.verdict).to.equal('incomparable');
    expect(none.because[0]).to.contain(`:run {"experiment_id":"${candidate['id']}","judge_version":"current"}`);
    const { judge_version } = await run(judge, candidate);
    await judged(candidate);
    const one = await compare(judge);
    expect(one.verdict).to.equal('incomparable');
    const call = `POST /projects/${bench.server.projectId}/judges/${judge['id']}:run {"experiment_id":"${baseline['id']}","judge_version":"${judge_version}"}`;
    expect(one.because[0]).to.contain(call);
    await run(judge, baseline, judge_version);
    const found = await compare(judge, { wait_seconds: 60 });
    expect(found.metrics[0]).to.include({ rows: ROWS, wins: 0, losses: 9, measure: 'boolean', verdict: 'failed' });
    expect(found.metrics[0].judge).to.deep.include({ name: judge['name'], judge_version, corrections: 0, kappa: null });
    const path = `comparisons/${found.id}/rows?metric=judge:${judge['id']}&outcome=loss`;
    const losses = await api.expect(200, 'GET', path);
    expect(losses.map(({ row_id }: Json) => row_id).sort()[0]).to.equal('r1');
    expect(losses).to.have.length(9);

    const { results } = await api.expect(200, 'GET', `experiments/${candidate['id']}/results?limit=8`);
    for (const [index, { id }] of results.entries())
      await api.expect(
        200,
        'POST',
        `/v1/prompts/${encodeURIComponent(String(judge['task_slug']))}/completions/${id}/feedback`,
        {
          ...{ judge_id: judge['id'], thumbs_up: index > 1 },
        },
      );
    const reviewed = await compare(judge);
    expect(reviewed.metrics[0].judge).to.include({ corrections: 8, agreed: 6, version: 'v1' });
    const markdown = await bench.server.request(
      'GET',
      `/projects/${bench.server.projectId}/comparisons/${reviewed.id}`,
      {
        headers: { accept: 'text/markdown' },
      },
    );
    expect(markdown.text).to.contain('in 6 of 8 reviews, κ ').and.to.contain('\n| Polite | no\\_regression |');
  });

  it('takes what people say of results, without what they say of verdicts', async () => {
    for (const [of, liked] of [
      [baseline, 4],
      [candidate, 1],
    ] as const) {
      const { results } = await api.expect(200, 'GET', `experiments/${of['id']}/results?limit=5`);
      for (const [index, { id }] of results.entries())
        await api.expect(200, 'POST', `spans/${id}/feedback`, { thumbs_up: index < liked });
    }
    const metrics = [{ name: 'feedback:thumbs_up', rule: 'report' }];
    const body = { candidate: candidate['id'], baseline: baseline['id'], metrics };
    const [metric] = (await api.expect(201, 'POST', 'comparisons', body)).metrics;
    expect(metric).to.deep.include({ rows: 5, wins: 0, losses: 3, ties: 2, judge: null });
    expect([metric.baseline.mean, metric.candidate.mean]).to.deep.equal([0.8, 0.2]);
  });

  it('is incomparable where both were judged, but by different versions', async () => {
    const judge = await bench.make();
    await run(judge, baseline);
    await judged(baseline);
    await api.patch(judge['id'], { prompt: 'Another instruction' });
    await run(judge, candidate);
    await judged(candidate);
    const found = await compare(judge);
    expect([found.verdict, found.because[0]]).to.satisfy(
      ([verdict, because]: string[]) => verdict === 'incomparable' && /different versions/.test(because ?? ''),
    );
  });

  it('takes scores of scored judges as numbers, and waits for what is queued', async () => {
    const judge = await bench.makeScored();
    let open = (): void => undefined;
    const opened = new Promise<void>((resolve) => (open = resolve));
    bench.endpoint.reset(({ last }) =>
      answer({ reason: 'r', score: last.includes('after') ? 5 : 8, confidence: 1 }, opened),
    );
    const { judge_version } = await run(judge, baseline);
    await run(judge, candidate, judge_version);
    const metrics = [{ name: `judge:${judge['id']}`, rule: 'no_regression' }];
    const body = { candidate: candidate['id'], baseline: baseline['id'], metrics };
    expect((await api.expect(409, 'POST', 'comparisons', body)).detail).to.match(/still evaluating/);
    const comparing = compare(judge, { wait_seconds: 60 });
    open();
    const [metric] = (await comparing).metrics;
    expect(metric).to.include({ measure: 'number', losses: ROWS, verdict: 'failed' });
    expect(metric.difference.value).to.be.closeTo(-3, 1e-9);
  });

  it('knows no judge of another project', async () => {
    const other = await bench.project('other').create();
    const refused = await api.refused('POST', 'comparisons', {
      ...{ candidate: candidate['id'], baseline: baseline['id'] },
      metrics: [{ name: `judge:${other['id']}`, rule: 'report' }],
    });
    expect(refused).to.deep.equal({ '/metrics/0/name': 'there is no judge with this id' });
  });
});
