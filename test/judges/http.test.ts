import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { PLAIN_JUDGE } from './fixture.js';
import type { TestServer } from '../harness/server.js';
import { sharedServer } from '../harness/shared-server.js';
import { JudgeApi, type Json } from './judge-api.js';

const CRITERIA = [
  { key: 'tone', label: 'Tone', description: 'Is it kind?' },
  { key: 'facts', label: 'Facts', description: 'Is it true?' },
];

describe('judges', () => {
  let server: TestServer;
  let api: JudgeApi;
  before(async () => {
    server = await sharedServer();
    api = new JudgeApi(server);
  });
  after(() => server.dispose());

  const ensure = (slug: string, content = 'Judge {{output}}') =>
    api.expect(200, 'POST', `/v1/tasks/${encodeURIComponent(slug)}/prompt/versions/ensure`, { content });

  it('makes one with every field, and its prompt', async () => {
    const asked = {
      name: 'Ist es höflich? (v2)',
      evaluation_type: 'scored',
      score_min: -1.5,
      score_max: 1,
      pass_threshold: 0.25,
      criteria: [...CRITERIA, { key: 'bare' }],
      prompt: 'How polite is it? 💡',
      model: 'vendor/model:1',
      temperature: 0,
      sample_rate: 0.5,
      filters: { kinds: ['llm', 'tool'], names: ['a', 'b, c'], tags: { env: 'prod', n: 1 }, prompt_slug: 'support' },
      enabled: false,
    };
    const judge = await api.expect(201, 'POST', 'judges', asked);
    const { prompt: _prompt, ...kept } = asked;
    expect(judge).to.deep.include({
      ...kept,
      criteria: [...CRITERIA, { key: 'bare', label: 'bare', description: '' }],
      filters: { ...asked.filters, tags: { env: 'prod', n: '1' } },
      project_id: server.projectId,
      task_slug: 'ist-es-hoflich-v2',
      runnable: false,
      not_runnable_reason: 'No model endpoint is configured (JUDGE_LLM_BASE_URL)',
    });
    expect(judge.id).to.match(/^[0-9a-f-]{36}$/);
    expect(judge.created_at).to.equal(judge.updated_at);
    expect(await api.expect(200, 'GET', `judges/${judge.id}`)).to.deep.equal(judge);
    expect(await api.expect(200, 'GET', `judges/${judge.id.toUpperCase()}`)).to.deep.equal(judge);
    const prompt = await api.expect(200, 'GET', `/v1/prompts/${judge.task_slug}`);
    expect(prompt).to.include({ content: asked.prompt, version: 1 });
    expect(await api.expect(200, 'GET', `judges/${judge.id}/criteria`)).to.deep.equal({
      judge_id: judge.id,
      evaluation_type: 'scored',
      score_min: -1.5,
      score_max: 1,
      pass_threshold: 0.25,
      criteria: judge.criteria,
    });
  });

  it('has defaults, takes an existing prompt, and finds a free slug', async () => {
    await ensure('shared/task');
    const judge = await api.create({ name: 'Plain', task_slug: 'shared/task' });
    expect(judge).to.deep.include({ task_slug: 'shared/task', ...PLAIN_JUDGE });
    const names = ['Same name', 'Same  name!', 'same-name', '日本'];
    const slugs = [];
    for (const name of names) slugs.push((await api.create({ name, prompt: 'the same text' }))['task_slug']);
    expect(slugs).to.deep.equal(['same-name', 'same-name-2', 'same-name-3', 'judge']);
    const nulls = await api.create({
      criteria: null,
      model: null,
      temperature: null,
      sample_rate: null,
      filters: null,
    });
    expect(nulls).to.deep.include({ criteria: [], sample_rate: 1, enabled: true });
  });

  it('previews one without a model endpoint, but asks no model', async () => {
    const draft = { name: 'Draft', evaluation_type: 'binary', prompt: 'Is it polite?' };
    const reason = 'No model endpoint is configured (JUDGE_LLM_BASE_URL)';
    const preview = await api.expect(200, 'POST', 'judges:preview', draft);
    expect(preview).to.deep.include({ runnable: false, not_runnable_reason: reason, model: null, tried: [] });
    const refused = await api.expect(409, 'POST', 'judges:preview', { ...draft, try: true });
    expect(refused.detail).to.equal(`The judge cannot run. ${reason}`);
  });

  const refusals: [what: string, judge: Json, issues: Record<string, string>][] = [
    [
      'nothing at all',
      { name: undefined, evaluation_type: undefined, prompt: undefined },
      {
        '/name': 'is required',
        '/evaluation_type': 'is required',
        '/prompt': 'is required, unless task_slug names an existing prompt',
      },
    ],
    ['both prompt and task', { task_slug: 'x' }, { '/task_slug': 'there is no prompt with this slug' }],
    [
      'a scored judge without its scale',
      { evaluation_type: 'scored' },
      {
        '/score_min': 'is required for a scored judge',
        '/score_max': 'is required for a scored judge',
        '/pass_threshold': 'is required for a scored judge',
      },
    ],
    [
      'a range that is none',
      { evaluation_type: 'scored', score_min: 1, score_max: 1, pass_threshold: 1 },
      { '/score_max': 'must be greater than score_min' },
    ],
    [
      'a threshold outside',
      { evaluation_type: 'scored', score_min: 0, score_max: 1, pass_threshold: 1.1 },
      { '/pass_threshold': 'must be from score_min to score_max' },
    ],
    [
      'scores of a binary judge',
      { score_min: 0, pass_threshold: 1 },
      {
        '/score_min': 'applies only to scored judges; this judge is binary',
        '/pass_threshold': 'applies only to scored judges; this judge is binary',
      },
    ],
    [
      'rules of fields and rules between fields together',
      {
        name: '',
        evaluation_type: 'scored',
        score_min: 2,
        score_max: 1,
        pass_threshold: 1,
        sample_rate: 1.01,
        temperature: -1,
        criteria: [{ key: 'a b' }],
        filters: { kinds: ['LLM'], tags: { a: {} }, prompt_slug: '' },
        enabled: 'yes',
        task_slug: 'missing',
      },
      {
        '/name': 'must have 1 to 200 characters without control characters',
        '/score_max': 'must be greater than score_min',
        '/sample_rate': 'must be at most 1',
        '/temperature': 'must be at least 0',
        '/criteria/0/key': 'must have 1 to 64 characters of A-Z, a-z, 0-9, underscore, dot and hyphen',
        '/filters/kinds/0': 'must have 1 to 32 characters of a-z, 0-9 and underscore, and begin with a letter',
        '/filters/tags/a': 'must be a string, a number, true or false or null',
        '/filters/prompt_slug':
          'must have 1 to 128 characters of A-Z, a-z, 0-9, dot, underscore, hyphen, space and slash',
        '/enabled': 'must be true or false or null',
        '/task_slug': 'there is no prompt with this slug',
      },
    ],
    [
      'criteria with one key',
      { criteria: [{ key: 'a' }, { key: 'b' }, { key: 'a' }] },
      { '/criteria/2/key': 'must be unique within the judge' },
    ],
    ['an unknown type', { evaluation_type: 'graded' }, { '/evaluation_type': 'must be one of binary, scored' }],
    ['half a surrogate pair', { prompt: 'a\ud800' }, { '/prompt': 'must not contain an unpaired surrogate' }],
  ];
  for (const [what, judge, issues] of refusals)
    it(`refuses ${what}, and makes neither judge nor prompt`, async () => {
      const name = `refused ${randomUUID()}`;
      const before = await api.expect(200, 'GET', 'judges?limit=500');
      const found = await api.refused('POST', 'judges', { name, evaluation_type: 'binary', prompt: 'x', ...judge });
      expect(found).to.deep.equal(issues);
      expect(await api.expect(200, 'GET', 'judges?limit=500')).to.deep.equal(before);
      await api.expect(404, 'GET', `/v1/prompts/${name.replace(' ', '-')}`);
    });

  it('changes what is given, with the rules of the whole', async () => {
    const judge = await api.create({ name: 'Changing', criteria: CRITERIA });
    const { id } = judge;
    expect(await api.patch(id, {})).to.deep.include({
      ...judge,
      updated_at: (await api.expect(200, 'GET', `judges/${id}`)).updated_at,
    });
    const scored = await api.patch(id, { evaluation_type: 'scored', score_min: 1, score_max: 5, pass_threshold: 3 });
    expect(scored).to.deep.include({ evaluation_type: 'scored', score_max: 5, criteria: CRITERIA, name: 'Changing' });
    expect(await api.refused('PATCH', `judges/${id}`, { score_max: 2 })).to.have.key('/pass_threshold');
    expect(await api.refused('PATCH', `judges/${id}`, { pass_threshold: null })).to.have.key('/pass_threshold');
    expect(await api.refused('PATCH', `judges/${id}`, { name: null })).to.have.key('/name');
    expect(await api.expect(200, 'GET', `judges/${id}`)).to.deep.equal(scored);
    const binary = await api.patch(id, { evaluation_type: 'binary', filters: { names: ['x'] }, criteria: null });
    expect(binary).to.deep.include({ score_min: null, score_max: null, pass_threshold: null, criteria: [] });
    expect(binary['filters']).to.deep.equal({ kinds: [], names: ['x'], tags: {}, prompt_slug: null });
    await api.patch(id, { prompt: 'A better instruction' });
    expect(await api.expect(200, 'GET', `/v1/prompts/${judge['task_slug']}`)).to.include({
      content: 'A better instruction',
      version: 2,
    });
    const conflict = await api.expect(409, 'PATCH', `judges/${id}`, {
      prompt: 'Is the answer polite?',
      name: 'not this',
    });
    expect(conflict.detail).to.contain('version 1').and.contain('production');
    expect(await api.expect(200, 'GET', `judges/${id}`)).to.include({ name: 'Changing' });
    await api.patch(id, { prompt: 'A better instruction' });
    await ensure('another');
    expect(await api.patch(id, { task_slug: 'another' })).to.include({ task_slug: 'another' });
    const off = await api.patch(id, { enabled: false });
    const on = await api.patch(id, { enabled: true });
    expect(off['judged_since']).to.equal(judge['judged_since']);
    expect(on['judged_since'] > judge['judged_since']).to.equal(true);
  });

  it('deletes one; its evaluations and criteria stay', async () => {
    const judge = await api.create({ name: 'Leaving' });
    const { id } = judge;
    const span_id = randomUUID();
    await api.expect(201, 'POST', `judges/${id}/evaluations`, { span_id, evaluation_result: true });
    expect((await api.call('DELETE', `judges/${id}`)).status).to.equal(204);
    for (const [method, path, body] of [
      ['GET', `judges/${id}`],
      ['PATCH', `judges/${id}`, { name: 'x' }],
      ['DELETE', `judges/${id}`],
      ['POST', `judges/${id}/evaluations`, { span_id, evaluation_result: true }],
      ['POST', `judges/${id}:run`, { backfill: 1 }],
      ['GET', `judges/${id}/explain/${span_id}`],
    ] as const)
      await api.expect(404, method, path, body);
    const list = await api.expect(200, 'GET', 'judges?limit=500');
    expect(list.map((other: Json) => other['id'])).to.not.include(id);
    expect(await api.evaluations(judge)).to.have.length(1);
    expect(await api.expect(200, 'GET', `judges/${id}/criteria`)).to.include({ judge_id: id });
    expect(await api.expect(200, 'GET', `spans/${span_id}/evaluations`)).to.deep.include({ span_id });
    await api.expect(200, 'GET', `/v1/prompts/${judge['task_slug']}`);
  });

  it('lists them in pages, oldest first', async () => {
    const all = await api.expect(200, 'GET', 'judges?limit=500');
    const pages = [];
    for (let offset = 0; offset < all.length; offset += 3)
      pages.push(...(await api.expect(200, 'GET', `judges?limit=3&offset=${offset}`)));
    expect(pages).to.deep.equal(all);
    const times = all.map((judge: Json) => judge['created_at']);
    expect(times).to.deep.equal([...times].sort());
    for (const query of ['limit=0', 'limit=501', 'limit=x', 'offset=-1', 'limit=1&limit=2'])
      await api.expect(422, 'GET', `judges?${query}`);
  });

  it('is inside its project', async () => {
    const judge = await api.create();
    const missing = randomUUID();
    for (const path of [missing, `${missing}/criteria`, `${missing}/evaluations`, `${missing}/runs`])
      await api.expect(404, 'GET', `judges/${path}`);
    await api.expect(422, 'GET', 'judges/no-uuid');
    for (const path of ['judges', `judges/${judge['id']}`, `judges/${judge['id']}/evaluations`])
      await api.expect(403, 'GET', `/projects/${randomUUID()}/${path}`);
    const { status } = await server.request('GET', `/projects/${server.projectId}/judges`, { key: null });
    expect(status).to.equal(401);
  });

  it('says that it does not run without an endpoint', async () => {
    const judge = await api.create();
    const [span = {}] = await api.post({
      trace_id: randomUUID(),
      name: 'a',
      started_at: 1_770_000_000,
      output_data: 'x',
    });
    const refused = await api.expect(409, 'POST', `judges/${judge['id']}:run`, { span_ids: [span['id']] });
    expect(refused.detail).to.contain('JUDGE_LLM_BASE_URL');
    expect(await api.explain(judge, span)).to.include({ answer: 'no_endpoint' });
    expect(await api.runs(judge)).to.deep.equal([]);
  });
});
