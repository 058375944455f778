import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { ApiDocument } from '../harness/api-document.js';
import { eventually, finished, JudgeBench, type JudgeApi, type Json } from './judge-api.js';
import { answer, failing, passing, type ModelEndpoint } from './model-endpoint.js';

const PREVIEW = 'judges:preview';
const draft = (more: Json = {}): Json => ({
  name: 'Draft',
  evaluation_type: 'binary',
  prompt: 'Is the answer polite?',
  ...more,
});

describe('a preview of a judge', () => {
  let bench: JudgeBench;
  let api: JudgeApi;
  let other: JudgeApi;
  let endpoint: ModelEndpoint;
  let document: ApiDocument;
  let version: Json;
  let spans: Json[];
  before(async () => {
    bench = await JudgeBench.boot();
    ({ api, endpoint } = bench);
    other = bench.project('other');
    document = await ApiDocument.of(bench.server);
    const ensure = (slug: string) =>
      api.expect(200, 'POST', `/v1/tasks/${slug}/prompt/versions/ensure`, { content: 'x' });
    version = await ensure('support');
    await ensure('other');
    spans = await api.post(
      ...[
        { kind: 'llm', tags: { env: 'prod', team: 'a' }, attributes: { task: 'support' } },
        {
          kind: 'llm',
          tags: { env: 'prod' },
          attributes: { zeroeval: { prompt_version_id: version['id'].toUpperCase() } },
        },
        { kind: 'tool', name: 'a, "b"', tags: { env: 'dev' }, attributes: { prompt_slug: version['prompt_id'] } },
        { kind: 'tool', name: 'a, "b"', attributes: { prompt_slug: 'other', note: 'support' } },
        { kind: 'llm', input_data: null, output_data: null, ended_at: new Date().toISOString() },
        { kind: 'llm', output_data: null },
        { kind: 'agent', attributes: { task: ['support'], prompt_slug: 7 }, input_data: 'x'.repeat(10_000) },
      ].map((span, index) => finished({ ...span, started_at: new Date(Date.now() - index * 60_000).toISOString() })),
    );
    // Sent again, it counts once.
    await api.post(spans[0] as Json);
  });
  after(() => bench.dispose());
  beforeEach(() => endpoint.reset());

  async function preview(body: Json, by = api): Promise<Json> {
    const response = await by.call('POST', PREVIEW, body);
    expect(response.status, response.text.slice(0, 500)).to.equal(200);
    document.check('POST', `/projects/${by.server.projectId}/${PREVIEW}`, response);
    return response.json as Json;
  }

  it('says which kinds the filter by kinds leaves out, of spans that the others take', async () => {
    const left = async (chosen?: Json) => (await preview(draft({ filters: chosen })))['other_kinds'];
    expect(await left()).to.deep.equal([]);
    expect(await left({ kinds: ['llm'] })).to.deep.equal([
      { kind: 'tool', spans: 2 },
      { kind: 'agent', spans: 1 },
    ]);
    expect(await left({ kinds: ['agent', 'nothing'], prompt_slug: 'support' })).to.deep.equal([
      { kind: 'llm', spans: 2 },
      { kind: 'tool', spans: 1 },
    ]);
    expect(await left({ kinds: ['llm'], prompt_slug: 'none' })).to.deep.equal([]);
  });

  const ofPrompt = { prompt_slug: 'support' };
  const filters: [what: string, filters: Json | undefined, matches: readonly number[]][] = [
    ['everything that is finished and has content', undefined, [0, 1, 2, 3, 6]],
    ['kinds', { kinds: ['llm', 'agent'] }, [0, 1, 6]],
    ['names', { names: ['a, "b"'] }, [2, 3]],
    ['tags', { tags: { env: 'prod', team: 'a' } }, [0]],
    ['a prompt by slug, id and version', ofPrompt, [0, 1, 2]],
    ['a prompt and a kind', { ...ofPrompt, kinds: ['tool'] }, [2]],
    ['a prompt that is not there', { prompt_slug: 'none' }, []],
  ];
  for (const [what, chosen, indexes] of filters)
    it(`counts what a judge takes by ${what}`, async () => {
      const found = await preview(draft({ filters: chosen, sample_rate: 0.5 }));
      const ids = indexes.map((index) => spans[index]?.['id'] as string);
      expect(found).to.include({ matches: ids.length, evaluations_per_day: ids.length / 2, runnable: true });
      expect(found['sample'].map(({ id }: Json) => id)).to.deep.equal(ids);
      const judge = await bench.make({ filters: chosen, enabled: false });
      const { queued } = await api.expect(202, 'POST', `judges/${judge['id']}:run`, { backfill: 100 });
      expect(queued).to.equal(found['matches']);
      await bench.clear();
    });

  it('says what the judge would cost, or why that is not known', async () => {
    const { estimate, sample, model } = await preview(draft({ filters: { kinds: ['agent'] } }));
    expect(model).to.equal('gpt-4o-mini');
    expect([sample[0].input_data, sample[0].output_data]).to.deep.equal([sample[0].input, sample[0].output]);
    expect(sample[0].input).to.match(/^x+ \[… 8000 characters left out …\] x+$/);
    expect(estimate).to.include({ spans: 1, cost_unknown_reason: null, output_tokens_per_day: 120 });
    expect(estimate.input_tokens_per_evaluation).to.be.within(2_700, 3_300);
    const cost = (estimate.input_tokens_per_day * 0.15 + 120 * 0.6) / 1e6;
    expect(estimate.cost_per_day).to.be.closeTo(cost, 1e-12);
    const unknown = await preview(draft({ model: 'nobody/knows', filters: { kinds: ['agent'] } }));
    expect(unknown['estimate']).to.include({
      cost_per_day: null,
      cost_unknown_reason: 'The model nobody/knows has no price; set a custom price in the project',
    });
    expect((await preview(draft({ filters: { kinds: ['tts'] } })))['estimate']).to.equal(null);
    expect(endpoint.asked).to.deep.equal([]);
  });

  it('asks the model about the first span of the sample, and stores no evaluation', async () => {
    endpoint.reset(() => {
      const criteria = { tone: { reason: 'cold', score: 2 } };
      return answer({ reason: failing.reason, confidence: 0.8, score: 3, criteria });
    });
    const scored = {
      evaluation_type: 'scored',
      score_min: 0,
      score_max: 10,
      pass_threshold: 5,
      criteria: [{ key: 'tone' }],
    };
    const asked = {
      ...draft(scored),
      prompt: 'How polite is {{output}}?',
      temperature: 0.5,
      filters: { kinds: ['agent'] },
    };
    const before = await api.expect(200, 'GET', 'prompts');
    const { tried } = await preview({ ...asked, try: true });
    const [{ request, ...found }] = tried;
    const span = spans[6] as Json;
    expect(found).to.deep.include({
      span_id: span['id'],
      mismatches: [],
      failure: null,
      model_used: 'gpt-4o-mini',
      input_tokens: 1000,
      output_tokens: 100,
      cost: 0.00021,
      verdict: {
        evaluation_result: false,
        evaluation_reason: failing.reason,
        confidence_score: 0.8,
        score: 3,
        criteria_scores: { tone: { reason: 'cold', score: 2 } },
      },
    });
    expect(request.messages).to.deep.equal(endpoint.asked[0]?.body.messages);
    expect(request).to.include({ model: 'gpt-4o-mini', temperature: 0.5 });
    expect(request.schema).to.deep.equal(endpoint.asked[0]?.body.response_format.json_schema.schema);
    expect((await api.expect(200, 'GET', `spans/${span['id']}/evaluations`)).evaluations).to.deep.equal([]);
    expect(await api.expect(200, 'GET', 'prompts')).to.deep.equal(before);
    const calls = await api.expect(200, 'GET', '/spans?spanhouse.judge=draft');
    expect(calls).to.have.length(1);
    expect(calls[0]).to.include({ name: 'judge Draft', cost: 0.00021, input_data: JSON.stringify(request.messages) });
    const { groups } = await api.expect(200, 'GET', 'internal-usage');
    expect(groups).to.deep.include({
      purpose: 'judge',
      id: 'draft',
      name: null,
      subject_id: null,
      calls: 1,
      errors: 0,
      input_tokens: 1000,
      output_tokens: 100,
      cost: 0.00021,
    });
  });

  it('asks about spans by id, also those that the filters leave out, and says so and what failed', async () => {
    const ids = [spans[2], spans[3]].map((span) => span?.['id'] as string);
    endpoint.reset(({ last }, index) => (index === 0 || last === '' ? answer(passing) : { do: 'status', status: 500 }));
    const { tried } = await preview(draft({ filters: { ...ofPrompt, kinds: ['tool'] }, try: [...ids, ids[0]] }));
    expect(tried.map(({ span_id }: Json) => span_id)).to.deep.equal(ids);
    expect(tried[0].mismatches).to.deep.equal([]);
    expect(tried[1].mismatches.map(({ filter }: Json) => filter)).to.deep.equal(['prompt_slug']);
    const verdicts = tried.map(({ verdict, failure }: Json) => [verdict === null, failure === null]);
    expect(verdicts).to.have.deep.members([
      [true, false],
      [false, true],
    ]);
  });

  it('takes the instruction of an existing prompt', async () => {
    const { tried } = await preview({ ...draft({ try: true }), prompt: undefined, task_slug: 'support' });
    expect(tried[0].request.messages[0].content).to.match(/# Instruction\n\nx$/);
  });

  it('refuses what a judge cannot be made with, and spans that are not there or are its own calls', async () => {
    const refused = (body: Json, by = api) => by.refused('POST', PREVIEW, body);
    expect(await refused({ try: [] })).to.have.all.keys('/name', '/evaluation_type', '/prompt', '/try');
    expect(await refused(draft({ try: Array.from({ length: 4 }, () => randomUUID()) }))).to.have.all.keys('/try');
    expect(await refused(draft({ tried: true }))).to.deep.equal({ '/tried': 'is unknown' });
    expect(
      await refused(draft({ filters: { names: Array.from({ length: 30 }, (_, i) => `${i}${'n'.repeat(900)}`) } })),
    ).to.have.all.keys('/filters');
    const [call] = await api.expect(200, 'GET', '/spans?spanhouse.judge=draft');
    expect(await refused(draft({ try: [call.id, randomUUID()] }))).to.deep.equal({
      '/try/0': 'is a call of a judge; such spans are never evaluated',
      '/try/1': 'there is no span with this id',
    });
    expect(await preview(draft({ try: true }), other)).to.deep.include({ matches: 0, sample: [], tried: [] });
    const foreign = [spans[0]?.['id']];
    expect(await refused(draft({ try: foreign }), other)).to.deep.equal({ '/try/0': 'there is no span with this id' });
    expect(await other.refused('POST', PREVIEW, draft({ prompt: undefined, task_slug: 'support' }))).to.have.all.keys(
      '/task_slug',
    );
    expect(endpoint.asked).to.deep.equal([]);
  });

  it('keeps nothing of a span that is deleted while the model is asked, or afterwards', async () => {
    const trial = async (id: string) => api.call('POST', PREVIEW, draft({ try: [id] }));
    const calls = async (id: string) => {
      const all = await api.expect(200, 'GET', '/spans?spanhouse.judge=draft');
      return all.filter(({ attributes }: Json) => attributes.spanhouse.span_id === id);
    };
    const first = (await api.postOne())['id'] as string;
    endpoint.reset(() => ({ do: 'hang' }));
    const under = trial(first);
    await eventually(
      async () => endpoint.asked.length,
      (asked) => asked === 1,
    );
    await api.expect(204, 'DELETE', `/spans/${first}`);
    expect((await under).status).to.equal(422);
    expect(await calls(first)).to.deep.equal([]);
    const second = (await api.postOne())['id'] as string;
    endpoint.reset();
    expect((await trial(second)).status).to.equal(200);
    expect(await calls(second)).to.have.length(1);
    await api.expect(204, 'DELETE', `/spans/${second}`);
    expect(await calls(second)).to.deep.equal([]);
  });

  it('is bounded by project', async () => {
    const id = (await api.postOne())['id'] as string;
    endpoint.reset(() => ({ do: 'hang' }));
    const asked = Array.from({ length: 7 }, () => api.call('POST', PREVIEW, draft({ try: [id] })));
    const first = await Promise.race(asked);
    expect(first.status).to.equal(429);
    expect(first.headers.get('retry-after')).to.not.equal(null);
    await preview(draft(), other);
    await api.expect(204, 'DELETE', `/spans/${id}`);
    for (const { status } of await Promise.all(asked)) expect(status).to.be.oneOf([200, 422, 429]);
  });
});
