import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { bootServer, type TestServer } from '../harness/server.js';
import { DATABASE_FILE, openDatabase } from '../../src/engine/metadata/database.js';
import { SqliteEvaluationStore } from '../../src/features/judges/store/evaluation-store.js';
import { PASSED } from './fixture.js';
import { JudgeApi, type Json } from './judge-api.js';

describe('evaluations', () => {
  let server: TestServer;
  let api: JudgeApi;
  before(async () => {
    server = await bootServer();
    api = new JudgeApi(server);
  });
  after(() => server.dispose());

  const record = (judge: Json, evaluation: Json = {}): Promise<Json> =>
    api.expect(201, 'POST', `judges/${judge['id']}/evaluations`, {
      span_id: randomUUID(),
      ...(judge['evaluation_type'] === 'binary' ? { evaluation_result: true } : { score: 7 }),
      ...evaluation,
    });
  /** Many at once, by the store that the server itself uses. @returns their ids */
  function fill(judge: Json, count: number, spanOf: () => string = randomUUID): string[] {
    const database = openDatabase(join(server.dataDir, DATABASE_FILE));
    const store = new SqliteEvaluationStore(database);
    const made = Array.from({ length: count }, () => ({ id: randomUUID(), span_id: spanOf() }));
    const common = { ...PASSED, project_id: server.projectId, judge_id: judge['id'] };
    database.transaction(() => {
      for (const evaluation of made) store.insert({ ...common, ...evaluation, created_at: Date.now() * 1000 });
    })();
    database.close();
    return made.map(({ id }) => id);
  }
  const page = (judge: Json, query: string): Promise<Json> =>
    api.expect(200, 'GET', `judges/${judge['id']}/evaluations?${query}`);
  const ids = (evaluations: readonly Json[]) => evaluations.map(({ id }) => id);

  it('stores one that ran elsewhere, with every field', async () => {
    const judge = await api.createScored({ criteria: [{ key: 'tone' }, { key: 'facts' }] });
    const span_id = randomUUID();
    const full = await record(judge, {
      span_id: span_id.toUpperCase(),
      evaluation_reason: 'so so 💡',
      confidence_score: 0.5,
      score: 5.5,
      criteria_scores: { tone: { score: 0, reason: 'rude' }, facts: { score: 10 } },
      model_used: 'a person',
      evaluation_duration_ms: 12.5,
    });
    expect(full).to.deep.include({
      judge_id: judge['id'],
      span_id,
      trace_id: null,
      evaluation_result: false,
      evaluation_reason: 'so so 💡',
      confidence_score: 0.5,
      score: 5.5,
      score_min: 0,
      score_max: 10,
      pass_threshold: 6,
      criteria_scores: { tone: { score: 0, reason: 'rude' }, facts: { score: 10, reason: '' } },
      model_used: 'a person',
      evaluation_duration_ms: 12.5,
      evaluation_type: 'scored',
      judge_version: null,
      origin: 'external',
    });
    expect((await record(judge, { score: 6 }))['evaluation_result'], 'the threshold itself passes').to.equal(true);
    const bare = await record(await api.create());
    expect(bare).to.deep.include({ evaluation_reason: '', confidence_score: null, score: null, criteria_scores: null });
    await record(judge, { span_id });
    expect(await api.evaluations(judge), 'a further one is a row of its own').to.have.length(3);
    const unified = await api.expect(200, 'GET', `feedback/span/${span_id}`);
    expect(unified.summary).to.deep.equal({ total: 2, human_feedback_count: 0, judge_evaluation_count: 2 });
  });

  it('counts one that ran elsewhere for the version that it names', async () => {
    const judge = await api.create();
    const version = await server.request('GET', `/v1/prompts/${judge['task_slug']}`);
    const named = await record(judge, { prompt_version: 1 });
    await record(judge);
    expect(named).to.deep.include({ origin: 'external', judge_version: `${version.json.id}/none` });
    expect(ids((await page(judge, 'judge_version=v1'))['evaluations'])).to.deep.equal([named['id']]);
    expect((await page(judge, 'judge_version=external'))['total']).to.equal(1);
    const wrong = { span_id: randomUUID(), evaluation_result: true, prompt_version: 2 };
    const { errors } = await api.expect(422, 'POST', `judges/${judge['id']}/evaluations`, wrong);
    expect(errors).to.deep.equal([
      { pointer: '/prompt_version', detail: `must be a version of the judge's prompt, ${judge['task_slug']}` },
    ]);
  });

  it('takes no more of a span that has a thousand', async () => {
    const judge = await api.create();
    const span_id = randomUUID();
    fill(judge, 999, () => span_id);
    await record(judge, { span_id });
    await api.expect(409, 'POST', `judges/${judge['id']}/evaluations`, { span_id, evaluation_result: true });
    await record(judge);
    expect((await api.expect(200, 'GET', `spans/${span_id}/evaluations`)).evaluations).to.have.length(1000);
  });

  it('keeps what the judge was at that moment', async () => {
    const judge = await api.createScored();
    await record(judge, { score: 7 });
    await api.patch(judge['id'], { score_max: 100, pass_threshold: 50 });
    await record(judge, { score: 7 });
    const found = await api.evaluations(judge);
    expect(
      found.map(({ score_max, pass_threshold, evaluation_result }) => [score_max, pass_threshold, evaluation_result]),
    ).to.deep.equal([
      [10, 6, true],
      [100, 50, false],
    ]);
  });

  it('refuses what does not fit the judge, and stores nothing', async () => {
    const binary = await api.create();
    const scored = await api.createScored({ criteria: [{ key: 'tone' }] });
    const span_id = randomUUID();
    const refused = (judge: Json, body: unknown) => api.refused('POST', `judges/${judge['id']}/evaluations`, body);
    expect(await refused(binary, { span_id })).to.deep.equal({
      '/evaluation_result': 'is required for a binary judge',
    });
    expect(
      await refused(binary, { span_id, evaluation_result: true, score: 1, criteria_scores: { tone: { score: 1 } } }),
    ).to.have.keys('/score', '/criteria_scores');
    expect(await refused(scored, { span_id })).to.deep.equal({ '/score': 'is required for a scored judge' });
    expect(await refused(scored, { span_id, score: 10.01 })).to.deep.equal({ '/score': 'must be from 0 to 10' });
    expect(await refused(scored, { span_id, score: 5, evaluation_result: true })).to.have.key('/evaluation_result');
    const wrong = { score: -1, criteria_scores: { tone: { score: 11 }, 'a/b': { score: 1 } } };
    expect(await refused(scored, { span_id, ...wrong })).to.deep.equal({
      '/score': 'must be from 0 to 10',
      '/criteria_scores/tone/score': 'must be from 0 to 10',
      '/criteria_scores/a~1b': 'is not a criterion of this judge; it has tone',
    });
    expect(await refused(scored, { span_id: 'x', score: '1', confidence_score: 2 })).to.have.keys(
      '/span_id',
      '/score',
      '/confidence_score',
    );
    for (const body of [[], '"x"', 'null', '1']) expect(await refused(scored, body)).to.have.key('');
    for (const judge of [binary, scored]) expect(await api.evaluations(judge)).to.deep.equal([]);
  });

  it('lists by result, time and page, each bound inclusive', async () => {
    const judge = await api.create();
    const all: Json[] = [];
    for (let index = 0; index < 12; index += 1) {
      all.push(await record(judge, { evaluation_result: index % 3 === 0 }));
      await sleep(2);
    }
    expect(await page(judge, '')).to.deep.equal({ evaluations: all, total: 12, limit: 100, offset: 0 });
    expect(ids((await page(judge, 'sort_order=desc'))['evaluations'])).to.deep.equal(ids(all).reverse());
    const passed = await page(judge, 'evaluation_result=true');
    expect([passed['total'], ids(passed['evaluations'])]).to.deep.equal([
      4,
      ids(all.filter((_, index) => index % 3 === 0)),
    ]);
    expect((await page(judge, 'evaluation_result=false'))['total']).to.equal(8);
    expect((await page(judge, 'evaluation_result=1'))['total'], 'as booleans of the lists').to.equal(4);
    expect((await page(judge, 'evaluation_result=0'))['total']).to.equal(8);
    const [from, to] = [all[3]?.['created_at'], all[8]?.['created_at']];
    const between = await page(judge, `start_date=${from}&end_date=${to}`);
    expect([between['total'], ids(between['evaluations'])]).to.deep.equal([6, ids(all.slice(3, 9))]);
    const offset = encodeURIComponent(from.replace('Z', '+00:00'));
    expect((await page(judge, `start_date=${offset}`))['total']).to.equal(9);
    expect(
      (await page(judge, `start_date=${from.replace('Z', '+00:00')}`))['total'],
      'a plus that nobody encoded',
    ).to.equal(9);
    expect((await page(judge, `start_date=${from.slice(0, 10)}`))['total']).to.equal(12);
    expect((await page(judge, `end_date=${from.slice(0, 10)}`))['total'], 'a date alone is its whole day').to.equal(12);
    expect((await page(judge, 'end_date=2020-01-01'))['total']).to.equal(0);
    expect((await page(judge, 'start_date=22300101'))['total'], 'a date of eight digits, as in the lists').to.equal(0);
    expect((await page(judge, 'start_date=1500000000'))['total'], 'Unix seconds').to.equal(12);
    const small = await page(judge, `limit=5&offset=10&evaluation_result=false`);
    expect([small['evaluations'].length, small['total'], small['limit'], small['offset']]).to.deep.equal([0, 8, 5, 10]);
    const both = await page(judge, `start_date=${from}&evaluation_result=true&limit=1&offset=1`);
    expect([ids(both['evaluations']), both['total']]).to.deep.equal([[all[6]?.['id']], 3]);
  });

  it('refuses bad parameters and names them all', async () => {
    const judge = await api.create();
    const refused = (query: string) => api.refused('GET', `judges/${judge['id']}/evaluations?${query}`);
    expect(
      await refused(
        'limit=0&offset=-1&start_date=x&end_date=2026-13-01&evaluation_result=yes&feedback_state=both&sort_order=up',
      ),
    ).to.have.keys(
      '?limit',
      '?offset',
      '?start_date',
      '?end_date',
      '?evaluation_result',
      '?feedback_state',
      '?sort_order',
    );
    expect(await refused('limit=501')).to.have.key('?limit');
    expect(await refused('start_date=2026-01-02&end_date=2026-01-01T00:00:00Z')).to.have.key('?end_date');
    expect((await page(judge, 'limit=500&offset=0'))['limit']).to.equal(500);
    expect((await page(judge, 'limit=1'))['limit']).to.equal(1);
  });

  it('knows the feedback state as soon as feedback arrives', async () => {
    const judge = await api.create({ name: 'Calibrated' });
    const evaluations = [await record(judge), await record(judge), await record(judge)];
    const spanId = evaluations[1]?.['span_id'];
    const state = async (which: string) =>
      ids((await page(judge, `feedback_state=${which}_user_feedback`))['evaluations']);
    const path = `/v1/prompts/${judge['task_slug']}/completions/${spanId}/feedback`;
    expect(await state('with')).to.deep.equal([]);
    await api.expect(200, 'POST', path, { thumbs_up: true });
    expect(await state('with'), 'feedback on the completion is none on the judge').to.deep.equal([]);
    await api.expect(200, 'POST', path, { thumbs_up: false, judge_id: judge['id'] });
    expect(await state('with')).to.deep.equal([evaluations[1]?.['id']]);
    expect(await state('without')).to.deep.equal([evaluations[0]?.['id'], evaluations[2]?.['id']]);
    await api.expect(200, 'POST', path, { thumbs_up: true, judge_id: judge['id'], reason: 'changed' });
    expect(await state('with')).to.deep.equal([evaluations[1]?.['id']]);
    const other = await api.create({ name: 'Other', task_slug: judge['task_slug'] });
    await record(other, { span_id: spanId });
    expect((await page(other, 'feedback_state=with_user_feedback'))['total']).to.equal(0);
    const again = await record(judge, { span_id: spanId, evaluation_result: false });
    expect(await state('with'), 'every evaluation of the span').to.deep.equal([evaluations[1]?.['id'], again['id']]);
    expect((await page(judge, 'feedback_state=with_user_feedback&evaluation_result=false'))['total']).to.equal(1);
  });

  describe('are reviewed', () => {
    let judge: Json;
    let made: Json[];
    const correct = (evaluation: Json | undefined, thumbs_up: boolean, by = api) =>
      by.expect(200, 'POST', `/v1/prompts/${judge['task_slug']}/completions/${evaluation?.['span_id']}/feedback`, {
        thumbs_up,
        judge_id: judge['id'],
      });
    const indexes = async (query: string) => {
      const { evaluations, total } = await page(judge, `limit=500&${query}`);
      expect(total, query).to.equal(evaluations.length);
      return ids(evaluations).map((id) => made.findIndex((each) => each['id'] === id));
    };
    before(async () => {
      judge = await api.create({ name: 'Reviewed' });
      made = [];
      for (const [index, confidence_score] of [0.9, null, 0.2, 0.9, 0.1, null, 0.5].entries())
        made.push(await record(judge, { confidence_score, evaluation_result: index % 2 === 0 }));
      const { span_id } = made[3] ?? {};
      // Said of 3; then the judge evaluates the span again.
      await correct(made[3], true);
      made.push(await record(judge, { span_id, confidence_score: 0.3 }));
      await correct(made[0], false);
      await correct(made[1], true);
      const other = await api.create({ name: 'Beside', task_slug: judge['task_slug'] });
      await record(other, { span_id: made[2]?.['span_id'] });
      await api.expect(200, 'POST', `/v1/prompts/${judge['task_slug']}/completions/${made[2]?.['span_id']}/feedback`, {
        thumbs_up: false,
        judge_id: other['id'],
      });
    });

    it('where people disagree, agree or said nothing', async () => {
      expect(await indexes('agreement=disagreed')).to.deep.equal([0]);
      expect(await indexes('agreement=agreed')).to.deep.equal([1, 3]);
      expect(await indexes('agreement=unreviewed')).to.deep.equal([2, 4, 5, 6, 7]);
      expect(await indexes('agreement=unreviewed&evaluation_result=false')).to.deep.equal([5]);
      // Two may be recorded at one moment.
      const end = String(made[5]?.['created_at']);
      const until = [2, 4, 5, 6, 7].filter((index) => String(made[index]?.['created_at']) <= end);
      expect(until).to.include.members([2, 4, 5]);
      expect(await indexes(`agreement=unreviewed&end_date=${end}`)).to.deep.equal(until);
      const { evaluations, total } = await page(judge, 'agreement=unreviewed&limit=2&offset=1&sort_order=desc');
      expect([ids(evaluations), total]).to.deep.equal([[made[6]?.['id'], made[5]?.['id']], 5]);
    });

    it('the least sure first, those that did not say last', async () => {
      expect(await indexes('sort_by=confidence')).to.deep.equal([4, 2, 7, 6, 0, 3, 1, 5]);
      expect(await indexes('sort_by=confidence&sort_order=desc')).to.deep.equal([3, 0, 6, 7, 2, 4, 5, 1]);
      expect(await indexes('agreement=unreviewed&sort_by=confidence')).to.deep.equal([4, 2, 7, 6, 5]);
      const { evaluations, total } = await page(judge, 'sort_by=confidence&agreement=unreviewed&limit=1&offset=4');
      expect([ids(evaluations), total]).to.deep.equal([[made[5]?.['id']], 5]);
    });

    it('by version of the judge', async () => {
      expect(await indexes('judge_version=external&agreement=unreviewed')).to.deep.equal([2, 4, 5, 6, 7]);
      expect(await indexes('judge_version=v1')).to.deep.equal([]);
      expect(await indexes('judge_version=a/none&sort_by=confidence')).to.deep.equal([]);
      const bad = `judges/${judge['id']}/evaluations?agreement=both&sort_by=score&judge_version=`;
      expect(await api.refused('GET', bad)).to.have.keys('?agreement', '?sort_by', '?judge_version');
    });

    it('by what was said last, which covers earlier evaluations of the span', async () => {
      await correct(made[1], false);
      expect(await indexes('agreement=disagreed')).to.deep.equal([0, 1]);
      await correct(made[0], true);
      expect(await indexes('agreement=disagreed')).to.deep.equal([1]);
      await correct(made[7], true);
      expect(await indexes('agreement=unreviewed'), 'what came before it, too').to.deep.equal([2, 4, 5, 6]);
    });
  });

  it('lists those of a span, newest first, with the names of judges, also of deleted ones', async () => {
    const [first, second] = [await api.create({ name: 'First' }), await api.createScored({ name: 'Second' })];
    const [span = {}] = await api.post({ trace_id: randomUUID(), name: 'a', started_at: 1_770_000_000 });
    const path = `spans/${span['id']}/evaluations`;
    expect(await api.expect(200, 'GET', path)).to.deep.equal({ span_id: span['id'], evaluations: [] });
    const one = await record(first, { span_id: span['id'] });
    const two = await record(second, { span_id: span['id'] });
    await api.call('DELETE', `judges/${first['id']}`);
    expect(await api.expect(200, 'GET', path)).to.deep.equal({
      span_id: span['id'],
      evaluations: [
        { ...two, judge_name: 'Second' },
        { ...one, judge_name: 'First' },
      ],
    });
    await api.expect(404, 'GET', `spans/${randomUUID()}/evaluations`);
  });

  it('pages through 10,000 while new ones arrive: none twice, none missed, by the rule of the contract', async function () {
    this.timeout(120_000);
    const judge = await api.create();
    const stored: string[] = [];
    const store = async () => stored.push((await record(judge))['id']);
    stored.push(...fill(judge, 10_000));
    const seen: string[] = [];
    let writing = true;
    const writer = (async () => {
      while (writing) await store();
    })();
    let before = 0;
    for (let offset = 0; ; offset += 100) {
      before = stored.length;
      const { evaluations, total } = await page(judge, `limit=100&offset=${offset}`);
      seen.push(...ids(evaluations));
      expect(Number(total)).to.be.at.least(offset + Number(evaluations.length));
      if (seen.length > 10_000) writing = false;
      if (evaluations.length < 100) break;
      if (!writing) await writer;
    }
    writing = false;
    await writer;
    expect(new Set(seen).size).to.equal(seen.length);
    expect(seen.length).to.be.greaterThan(10_000);
    const missed = stored.slice(0, before).filter((id) => !seen.includes(id));
    expect(missed, 'missed of what was there when the last page was asked for').to.deep.equal([]);
  });
});
