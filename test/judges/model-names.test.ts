import { expect } from 'chai';
import { NAME_FORMS, nameForEndpoint } from '../../src/engine/models/model-name.js';
import { settingDefinitions } from '../../src/config/settings.js';
import { priceApi } from '../prices/price-api.js';
import { JudgeBench } from './judge-api.js';
import { answer, passing } from './model-endpoint.js';

const AT = {
  openai: 'https://api.openai.com/v1',
  openrouter: 'https://openrouter.ai/api/v1',
  groq: 'https://api.groq.com/openai/v1',
  mistral: 'https://api.mistral.ai/v1',
  gateway: 'http://127.0.0.1:4000/v1',
};

describe('the name of a model that an endpoint is sent', () => {
  const cases: [at: keyof typeof AT, written: string, auto: string, plain: string, full: string][] = [
    ['openai', 'openai/gpt-4o', 'gpt-4o', 'gpt-4o', 'openai/gpt-4o'],
    ['openai', 'gpt-4o-mini', 'gpt-4o-mini', 'gpt-4o-mini', 'openai/gpt-4o-mini'],
    ['openai', 'openai/ft:gpt-4o:us', 'ft:gpt-4o:us', 'ft:gpt-4o:us', 'openai/ft:gpt-4o:us'],
    ['mistral', 'mistralai/mistral-small', 'mistral-small', 'mistral-small', 'mistralai/mistral-small'],
    // Gateways know models by names with providers, and have some of their own.
    ['openrouter', 'openai/gpt-4o', 'openai/gpt-4o', 'gpt-4o', 'openai/gpt-4o'],
    ['openrouter', 'gpt-4o', 'gpt-4o', 'gpt-4o', 'openai/gpt-4o'],
    ['openrouter', 'openrouter/auto', 'openrouter/auto', 'auto', 'openrouter/auto'],
    ['groq', 'openai/gpt-oss-120b', 'openai/gpt-oss-120b', 'gpt-oss-120b', 'openai/gpt-oss-120b'],
    ['groq', 'groq/compound', 'groq/compound', 'compound', 'groq/compound'],
    ['gateway', 'openai/gpt-4o', 'openai/gpt-4o', 'gpt-4o', 'openai/gpt-4o'],
    // A slash in the name of a model.
    ...(['openai', 'openrouter', 'gateway'] as const).map((at): [keyof typeof AT, string, string, string, string] => {
      const name = 'meta-llama/Llama-3-8B';
      return [at, name, name, name, name];
    }),
  ];
  for (const [at, written, ...expected] of cases)
    it(`${written} at ${at}`, () => {
      expect(NAME_FORMS.map((form) => nameForEndpoint(AT[at], form, written))).to.deep.equal(expected);
    });

  it('is set by JUDGE_LLM_MODEL_NAMES', () => {
    const [, definition] = settingDefinitions.find(([name]) => name === 'JUDGE_LLM_MODEL_NAMES')!;
    expect(definition['enum']).to.deep.equal([...NAME_FORMS]);
  });
});

describe('judges and names of models', () => {
  it('ask by the name that is known there, say which one is not, and pay by own prices', async () => {
    const bench = await JudgeBench.boot({ JUDGE_LLM_MODEL_NAMES: 'plain', JUDGE_LLM_MODEL: 'house-model' });
    const { api, endpoint, server } = bench;
    try {
      await priceApi(server).put('acme', 'house-model', { input_per_million: 1000, output_per_million: 0 });
      const bound = await api.create({ name: 'Bound' });
      await api.expect(200, 'PATCH', `prompts/${bound['task_slug']}/versions/1`, { model_id: 'openai/gpt-4o' });
      const defaulting = await api.create({ name: 'Defaulting' });
      const wrong = await api.create({ name: 'Wrong', model: 'openai/no-such' });
      const refusal = { code: 'model_not_found', message: 'It does not exist' };
      endpoint.reset(({ body }) =>
        body.model === 'no-such' ? { do: 'status', status: 404, body: { error: refusal } } : answer(passing),
      );
      const span = await api.postOne();
      for (const judge of [bound, defaulting]) await api.evaluated(judge, span);
      const { explanation } = await api.until(wrong, span, 'failed');
      expect(explanation).to.contain('The model endpoint does not know the model "no-such" (404)');
      expect(endpoint.asked.map(({ body }) => body.model as string).sort()).to.deep.equal([
        'gpt-4o',
        'house-model',
        'no-such',
      ]);
      const [paid] = await api.callsOf(bound);
      expect(paid?.['cost']).to.equal(0.0035);
      const [own] = await api.callsOf(defaulting);
      expect([own?.['attributes'].model, own?.['cost']]).to.deep.equal(['house-model', 1]);
    } finally {
      await bench.dispose();
    }
  });

  it('tell a model that is not known from a path at which nothing is', async () => {
    const bench = await JudgeBench.boot({ JUDGE_LLM_MODEL: 'no-such' });
    const { api, endpoint } = bench;
    const unknown = 'The model endpoint does not know the model "no-such" (404)';
    const nothing =
      'The model endpoint has nothing at the requested path (404): set JUDGE_LLM_BASE_URL to the address before /chat/completions';
    const cases: [body: unknown, said: string][] = [
      [{ error: { message: 'model "No-Such" not found, try pulling it first' } }, unknown],
      [{ error: { message: 'Invalid URL (POST /v1/chat/completions)', code: null } }, nothing],
      [{ detail: 'Not Found' }, nothing],
    ];
    try {
      const judge = await api.create();
      for (const [body, said] of cases) {
        endpoint.reset(() => ({ do: 'status', status: 404, body }));
        const { explanation } = await api.until(judge, await api.postOne(), 'failed');
        expect(explanation, JSON.stringify(body)).to.contain(said).and.to.not.contain(endpoint.url);
      }
    } finally {
      await bench.dispose();
    }
  });
});
