import { expect } from 'chai';
import { attributes, otlpSpan, request, TRACE_UUID } from '../otlp/requests.js';
import { CheckedApi, span, uuid, type Row } from '../harness/checked-api.js';

/** List prices of January 2026 in US dollars per million tokens, from the providers' price pages. */
const known = [
  { provider: 'openai', model: 'gpt-4o', input: 2.5, output: 10, cacheRead: 1.25 },
  { provider: 'openai', model: 'gpt-4o-mini', input: 0.15, output: 0.6, cacheRead: 0.075 },
  { provider: 'anthropic', model: 'claude-3-5-haiku-20241022', input: 0.8, output: 4, cacheRead: 0.08 },
  // An alias of `google`.
  { provider: 'gemini', model: 'gemini-2.0-flash', input: 0.1, output: 0.4, cacheRead: 0.025 },
  // As OpenTelemetry's conventions name them, and the AI SDK with them.
  { provider: 'x_ai', model: 'grok-3', input: 3, output: 15, cacheRead: 0.75 },
  { provider: 'azure.ai.inference', model: 'gpt-4o', input: 2.5, output: 10, cacheRead: 1.25 },
  { provider: 'gcp.gen_ai', model: 'gemini-2.0-flash', input: 0.1, output: 0.4, cacheRead: 0.025 },
];

describe('the cost of a span', () => {
  let api: CheckedApi;
  let next = 1;

  before(async () => {
    api = await CheckedApi.boot();
  });
  after(() => api.dispose());

  async function costs(spans: readonly Row[]): Promise<(number | null)[]> {
    const posted = await api.post(
      'spans',
      spans.map((more) => span(next++, { trace_id: uuid(500), kind: 'llm', ...more })),
    );
    for (const row of posted) expect(await api.one('spans', row['id'] as string)).to.include({ cost: row['cost'] });
    return posted.map(({ cost }) => cost as number | null);
  }
  const gpt = { provider: 'openai', model: 'gpt-4o', inputTokens: 1000, outputTokens: 500 };
  const gptCost = 0.0075;

  it('of a known model: tokens times price, per million', async () => {
    const spans = known.map(({ provider, model }) => ({
      attributes: { provider, model, inputTokens: 123_457, outputTokens: 7919 },
    }));
    const expected = known.map(({ input, output }) => Number(((123_457 * input + 7919 * output) / 1e6).toFixed(12)));
    expect(await costs(spans)).to.deep.equal(expected);
  });

  it('cached input is part of the input and priced as such', async () => {
    const spans = known.map(({ provider, model }) => ({
      attributes: { provider, model, inputTokens: 1000, outputTokens: 0, cacheReadTokens: 600 },
    }));
    const expected = known.map(({ input, cacheRead }) => Number(((400 * input + 600 * cacheRead) / 1e6).toFixed(12)));
    expect(await costs(spans)).to.deep.equal(expected);
  });

  it('cached tokens that are more than the input were counted apart: they are priced beside it', async () => {
    const cost = async (model: Row, inputTokens: number, tokens: Row) => {
      const [found] = await costs([{ attributes: { ...model, inputTokens, outputTokens: 100, ...tokens } }]);
      return found;
    };
    const openai = { provider: 'openai', model: 'gpt-4o' };
    const haiku = { provider: 'anthropic', model: 'claude-3-5-haiku-20241022' };
    const perMillion = (sum: number) => Number((sum / 1e6).toFixed(12));
    const [apart, within] = [{ cacheReadTokens: 400 }, { cacheReadTokens: 100 }];
    expect(await cost(openai, 100, apart)).to.equal(0.00175);
    expect(await cost(openai, 100, within), 'as many as the input: its parts').to.equal(
      perMillion(100 * 1.25 + 100 * 10),
    );
    expect(await cost(openai, 0, apart), 'nothing but cached').to.equal(perMillion(400 * 1.25 + 100 * 10));
    expect(await cost(haiku, 100, { cacheWriteTokens: 400 })).to.equal(perMillion(100 * 0.8 + 400 * 1 + 100 * 4));
    // gpt-4o has no price for writes of its own: they are other input.
    expect(await cost(openai, 100, { cacheWriteTokens: 400 })).to.equal(perMillion(500 * 2.5 + 100 * 10));
    const both = (cacheReadTokens: unknown, cacheWriteTokens: unknown) => ({ cacheReadTokens, cacheWriteTokens });
    const read = 0.08;
    expect(await cost(haiku, 100, both(400, 50)), 'one alone exceeds').to.equal(
      perMillion(100 * 0.8 + 400 * read + 50 * 1 + 100 * 4),
    );
    expect(await cost(haiku, 100, both(60, 60)), 'only together').to.equal(
      perMillion(100 * 0.8 + 60 * read + 60 * 1 + 100 * 4),
    );
    expect(await cost(haiku, 100, both(60, 40)), 'together equal').to.equal(perMillion(60 * read + 40 * 1 + 100 * 4));
    // What is no count is none.
    expect(await cost(openai, 100, both(-400, 'many'))).to.equal(perMillion(100 * 2.5 + 100 * 10));
    expect(await cost(openai, 100, both('400', null))).to.equal(0.00175);
    expect(await cost(openai, 1, both(1.5, null))).to.equal(perMillion(2.5 + 1.5 * 1.25 + 100 * 10));
  });

  it('cached tokens counted apart cost the same when they come by OpenTelemetry', async () => {
    const usage = { 'gen_ai.usage.input_tokens': 100, 'gen_ai.usage.cache_read.input_tokens': 400 };
    const call = {
      'gen_ai.provider.name': 'openai',
      'gen_ai.request.model': 'gpt-4o',
      'gen_ai.operation.name': 'chat',
    };
    const body = request([
      otlpSpan({ attributes: attributes({ ...call, ...usage, 'gen_ai.usage.output_tokens': 100 }) }),
    ]);
    expect((await api.server.request('POST', '/v1/traces', { body })).status).to.equal(200);
    const [stored] = await api.get('spans', `trace_id=${TRACE_UUID}`);
    expect(stored).to.deep.include({ kind: 'llm', cost: 0.00175 });
  });

  it('of llm, embedding and reranker spans only: wrappers repeat what the calls below them used', async () => {
    const kinds = ['llm', 'embedding', 'reranker', 'generic', 'agent', 'tool', 'http', 'chain'];
    const priced = await costs(kinds.map((kind) => ({ kind, attributes: gpt })));
    expect(priced).to.deep.equal([gptCost, gptCost, gptCost, null, null, null, null, null]);
    expect(
      await costs([
        {
          kind: 'embedding',
          attributes: { provider: 'openai', model: 'text-embedding-3-small', inputTokens: 1e6, outputTokens: 0 },
        },
      ]),
    ).to.deep.equal([0.02]);
  });

  it('a sent cost stands, also 0 and on any kind; null is none', async () => {
    expect(
      await costs([
        { cost: 0, attributes: gpt },
        { cost: 9, attributes: gpt },
        { cost: 9, kind: 'tool' },
        { cost: null, attributes: gpt },
      ]),
    ).to.deep.equal([0, 9, 9, gptCost]);
  });

  it('no tokens cost nothing, which is not unknown', async () => {
    expect(await costs([{ attributes: { ...gpt, inputTokens: 0, outputTokens: 0 } }])).to.deep.equal([0]);
  });

  it('unknown, never 0, when the model is not known or something is missing', async () => {
    const missing = ['model', 'inputTokens', 'outputTokens'].map((name) => ({
      attributes: Object.fromEntries(Object.entries(gpt).filter(([key]) => key !== name)),
    }));
    const odd = [
      { model: 'no-such-model' },
      { provider: 'no-such-provider', model: 'x' },
      { model: '' },
      { model: null },
      { inputTokens: -1 },
      { outputTokens: 'many' },
      { inputTokens: '' },
      { inputTokens: null },
      { outputTokens: {} },
      { inputTokens: 1e300 },
      { provider: '__proto__', model: 'constructor' },
    ];
    const all = await costs([...missing, ...odd.map((more) => ({ attributes: { ...gpt, ...more } })), {}]);
    for (const [index, cost] of all.entries()) expect(cost, String(index)).to.equal(null);
  });

  it('does not depend on how provider and model are written', async () => {
    const same: Row[] = [
      { provider: undefined, model: 'openai/gpt-4o' },
      { provider: undefined, model: 'gpt-4o' },
      { provider: '', model: 'OpenAI/gpt-4o' },
      { provider: 7, model: 'gpt-4o' },
      { model: 'openai/gpt-4o' },
      { model: 'openai/openai/gpt-4o' },
      { provider: 'OpenAI', model: 'openai/gpt-4o' },
      { provider: 'openrouter', model: 'openai/gpt-4o' },
      { provider: undefined, model: 'openrouter/openai/gpt-4o' },
      { provider: 'litellm', model: 'openai/gpt-4o' },
      { provider: 'judge-endpoint', model: 'openai/gpt-4o' },
      { provider: 'azure', model: 'azure/gpt-4o' },
    ];
    const priced = await costs(same.map((more) => ({ attributes: { ...gpt, ...more } })));
    expect(Object.fromEntries(priced.map((cost, index) => [JSON.stringify(same[index]), cost]))).to.deep.equal(
      Object.fromEntries(same.map((more) => [JSON.stringify(more), gptCost])),
    );
    const [google] = await costs([{ attributes: { ...gpt, provider: 'google', model: 'gemini/gemini-2.0-flash' } }]);
    expect(google).to.equal(0.0003);
  });

  it('is not that of another provider, or of a name that only looks like one with a provider', async () => {
    const others = [
      { provider: 'vllm', model: 'openai/gpt-4o' },
      { provider: 'vllm', model: 'meta-llama/Llama-3-8B' },
      { provider: undefined, model: 'meta-llama/Llama-3-8B' },
      { provider: undefined, model: 'nobody/gpt-4o' },
      { provider: undefined, model: 'openai/' },
      { provider: undefined, model: `${'openai/'.repeat(100_000)}gpt-4o` },
    ];
    const priced = await costs(others.map((more) => ({ attributes: { ...gpt, ...more } })));
    expect(priced).to.deep.equal(others.map(() => null));
  });

  it('token counts written as text are counts', async () => {
    expect(await costs([{ attributes: { ...gpt, inputTokens: '1000', outputTokens: '500' } }])).to.deep.equal([
      gptCost,
    ]);
  });

  it('is in the figures of its trace, which an update takes back', async () => {
    const [trace, id] = [uuid(501), uuid(777_777)];
    const call = { id, trace_id: trace, attributes: gpt, session_id: uuid(502) };
    await costs([call, { trace_id: trace, cost: 1 }]);
    expect(await api.one('traces', trace)).to.include({ cost: 1 + gptCost });
    await costs([{ ...call, attributes: { ...gpt, inputTokens: 2000 } }]);
    expect(await api.one('traces', trace)).to.include({ cost: 1.01 });
    await costs([{ ...call, attributes: {} }]);
    expect(await api.one('traces', trace)).to.include({ cost: 1 });
    expect(await api.one('sessions', uuid(502))).to.include({ cost: 1 });
  });
});
