import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { SqliteEvaluationStore } from '../../src/features/judges/store/evaluation-store.js';
import { withDatabase } from '../feedback/feedback-api.js';
import { PASSED } from './fixture.js';
import { failing, passing, answer } from './model-endpoint.js';
import { eventually, finished, JudgeBench, type Json } from './judge-api.js';

describe('figures of judges', () => {
  let bench: JudgeBench;
  before(async () => {
    bench = await JudgeBench.boot({}, { limits: { judgeAttempts: 1 } });
  });
  after(() => bench.dispose());

  it('counts what each judge found, with what waits and what failed', async () => {
    const { api, endpoint } = bench;
    const stats = (query = ''): Promise<Json[]> => api.expect(200, 'GET', `judges:stats${query}`);
    expect(await stats()).to.deep.equal([]);
    const busy = await api.create({ name: 'Busy', enabled: false });
    const idle = await api.create({ name: 'Idle', enabled: false });
    const gone = await api.create({ name: 'Gone' });
    await api.expect(204, 'DELETE', `judges/${gone['id']}`);
    const spans = await api.post(...['good', 'good', 'rude', 'broken'].map((text) => finished({ output_data: text })));
    const broken = spans[3];
    endpoint.reset(({ last }) => {
      if (last.includes('broken')) return { do: 'status', status: 400 };
      return answer(last.includes('rude') ? failing : passing);
    });
    await api.expect(202, 'POST', `judges/${busy['id']}:run`, { backfill: 10 });
    const none = { evaluations: 0, passed: 0, rate: null, rate_interval: null, queued: 0, failed: 0 };
    const [first, second, ...more] = await eventually(stats, ([row]) => row?.['queued'] === 0);
    expect(more).to.deep.equal([]);
    expect(first).to.deep.include({
      judge_id: busy['id'],
      judge_name: 'Busy',
      evaluations: 3,
      passed: 2,
      rate: 2 / 3,
      failed: 1,
    });
    expect(first?.['rate_interval'].low).to.be.closeTo(0.2077, 1e-4);
    expect(first?.['rate_interval'].high).to.be.closeTo(0.9385, 1e-4);
    expect(second).to.deep.equal({ judge_id: idle['id'], judge_name: 'Idle', ...none });

    const list = await api.expect(200, 'GET', `judges/${busy['id']}/evaluations?start_date=1h`);
    expect((await stats('?start_date=1h'))[0]?.['evaluations']).to.equal(list.total);
    expect((await stats('?end_date=1h'))[0]).to.deep.include({ ...none, failed: 1 });
    expect((await stats('?limit=1&offset=1')).map(({ judge_name }) => judge_name)).to.deep.equal(['Idle']);
    await api.refused('GET', 'judges:stats?start_date=1h&end_date=2h');
    expect(await bench.project('other').expect(200, 'GET', 'judges:stats')).to.deep.equal([]);

    const [good, fine, bad] = (await api.evaluations(busy)).sort(
      (a, b) => b['evaluation_result'] - a['evaluation_result'],
    );
    expect(new Set((await api.evaluations(busy)).map(({ trace_id }) => trace_id))).to.deep.equal(
      new Set(spans.slice(0, 3).map(({ trace_id }) => trace_id)),
    );
    expect((await api.runs(busy)).map(({ trace_id }) => trace_id)).to.deep.equal([broken?.['trace_id']]);
    const say = (of: Json | undefined, judge_was_right: boolean) =>
      api.expect(200, 'POST', `/v1/prompts/${busy['task_slug']}/completions/${of?.['span_id']}/feedback`, {
        judge_id: busy['id'],
        judge_was_right,
      });
    for (const [of, right] of [
      [good, true],
      [fine, false],
      [bad, true],
    ] as const)
      await say(of, right);
    const listed = await api.call('GET', 'judges?include=figures&figures_since=1h&count=true&limit=1');
    expect([listed.json.length, listed.headers.get('x-total-count')]).to.deep.equal([1, '2']);
    const [{ figures, ...judge }] = listed.json;
    expect(judge).to.deep.equal(await api.expect(200, 'GET', `judges/${busy['id']}`));
    const { kappa, kappa_interval, kappa_version } = await api.expect(200, 'GET', `judges/${busy['id']}/calibration`);
    const { judge_id: _id, judge_name: _name, ...counted } = (await stats('?start_date=1h'))[0] ?? {};
    expect(figures).to.deep.equal({ ...counted, kappa, kappa_interval, kappa_version });
    expect(kappa_version).to.equal('v1');
    expect(kappa).to.be.closeTo(0.4, 1e-9);
    const [, { figures: unjudged }] = await api.expect(200, 'GET', 'judges?include=figures');
    expect(unjudged).to.deep.equal({ ...none, kappa: null, kappa_interval: null, kappa_version: null });
    expect((await api.expect(200, 'GET', 'judges'))[0]).to.not.have.property('figures');
    await api.refused('GET', 'judges?include=figures&limit=101');

    let release = (): void => undefined;
    const released = new Promise<void>((resolve) => (release = resolve));
    endpoint.reset(() => answer(passing, released));
    await api.expect(202, 'POST', `judges/${busy['id']}:run`, { span_ids: [broken?.['id']] });
    expect((await stats())[0]?.['queued']).to.equal(1);
    release();
    await eventually(stats, ([row]) => row?.['evaluations'] === 4);
  });

  it('counts evaluations of a trace each, and corrects the newest by feedback on the span that stands for it', async () => {
    const { api, server } = bench;
    const judge = await api.create({ name: 'Whole', subject: 'trace', enabled: false });
    const trace_id = randomUUID();
    const [root] = await api.post(finished({ trace_id }), finished({ trace_id }));
    const [first, second] = [true, false].map((passed, index) =>
      withDatabase(server, (database) => {
        const store = new SqliteEvaluationStore(database);
        return store.insert({
          ...{
            ...PASSED,
            id: randomUUID(),
            project_id: server.projectId,
            judge_id: judge['id'],
            span_id: root?.['id'],
          },
          ...{ trace_id, subject_id: trace_id, subject_upto: index + 1, origin: 'automatic', judge_version: 'v/none' },
          ...{ evaluation_result: passed, created_at: Date.now() * 1000 },
        }).id;
      }),
    );
    await api.expect(200, 'POST', `/v1/prompts/${judge['task_slug']}/completions/${root?.['id']}/feedback`, {
      judge_id: judge['id'],
      judge_was_right: false,
    });
    const ids = async (query: string) => (await api.evaluations(judge, query)).map(({ id }) => id as string);
    expect(await ids('agreement=disagreed')).to.deep.equal([second]);
    expect(await ids('agreement=unreviewed'), 'of the one before, too, was spoken').to.deep.equal([]);
    expect((await ids('')).sort()).to.deep.equal([first, second].sort());
    const stats: Json[] = await api.expect(200, 'GET', 'judges:stats');
    expect(stats.find(({ judge_id }) => judge_id === judge['id'])).to.include({ evaluations: 2, passed: 1, rate: 0.5 });
    expect(await api.expect(200, 'GET', `judges/${judge['id']}/calibration`)).to.include({ count: 1 });
    const { summary } = await api.expect(200, 'GET', `feedback/span/${root?.['id']}`);
    expect(summary).to.include({ human_feedback_count: 1, judge_evaluation_count: 2 });
  });
});
