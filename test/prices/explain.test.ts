import { findProvider } from '@pydantic/genai-prices';
import { expect } from 'chai';
import { atListPrice } from '../../src/features/prices/cost-lines.js';
import { createListPrices } from '../../src/engine/traces/model/span/pricing.js';
import { ApiDocument } from '../harness/api-document.js';
import { uuid } from '../harness/checked-api.js';
import type { TestServer } from '../harness/server.js';
import { sharedServer } from '../harness/shared-server.js';
import { call, priceApi } from './price-api.js';

describe('the explanation of a cost', () => {
  let server: TestServer;
  let document: ApiDocument;
  let prices: ReturnType<typeof priceApi>;
  let next = 1;

  before(async () => {
    server = await sharedServer();
    document = await ApiDocument.of(server);
    prices = priceApi(server);
  });
  after(() => server.dispose());

  const explain = async (id: string, query = '') => {
    const response = await server.request('GET', `/spans/${id}/cost${query}`);
    document.check('GET', `/spans/${id}/cost`, response);
    return response;
  };
  const explained = async (change: Record<string, unknown>, attributes: Record<string, unknown> = {}) => {
    const span = call(uuid(next++), change, attributes);
    await prices.post([span]);
    return { id: span.id, ...(await explain(span.id)).json };
  };
  const gpt = { provider: 'openai', model: 'gpt-4o', inputTokens: 1000, outputTokens: 500 };

  it('multiplies tokens by list price, class by class', async () => {
    const found = await explained({}, { ...gpt, cacheReadTokens: 400 });
    expect(found).to.deep.include({ cost: 0.007, sum: 0.007, source: 'list_price', reason: 'priced', model: 'gpt-4o' });
    expect(found.price).to.include({ source: 'list_price', provider: 'openai', model: 'gpt-4o' });
    expect(found.lines).to.deep.equal([
      { class: 'input', tokens: 600, per_million: 2.5, amount: 0.0015 },
      { class: 'cache_read', tokens: 400, per_million: 1.25, amount: 0.0005 },
      { class: 'output', tokens: 500, per_million: 10, amount: 0.005 },
    ]);
  });

  it("takes the project's own price first, and says when the stored cost is of an earlier one", async () => {
    await prices.put('acme', 'one', { input_per_million: 2, output_per_million: 4, cache_read_per_million: 1 });
    const found = await explained({}, { cacheReadTokens: 500_000 });
    expect(found).to.deep.include({ cost: 3.5, sum: 3.5, source: 'own_price', reason: 'priced' });
    expect(found.lines).to.deep.equal([
      { class: 'input', tokens: 500_000, per_million: 2, amount: 1 },
      { class: 'cache_read', tokens: 500_000, per_million: 1, amount: 0.5 },
      { class: 'output', tokens: 500_000, per_million: 4, amount: 2 },
    ]);
    await prices.put('acme', 'one', { input_per_million: 4, output_per_million: 4 });
    const changed = (await explain(found.id)).json;
    expect(changed).to.deep.include({ cost: 3.5, sum: 6, reason: 'price_changed', source: 'own_price' });
    await prices.repriced();
    expect((await explain(found.id)).json).to.deep.include({ cost: 6, sum: 6, reason: 'priced' });
    await prices.remove('acme', 'one');
    const gone = (await explain(found.id)).json;
    expect(gone).to.deep.include({
      cost: 6,
      sum: null,
      reason: 'price_gone',
      source: 'unknown',
      price: null,
      lines: [],
    });
  });

  it('says that a cost was sent, and what the price would make of it', async () => {
    expect(await explained({ cost: 5 }, gpt)).to.deep.include({ cost: 5, sum: 0.0075, source: 'sent', reason: 'sent' });
    expect(await explained({ cost: 0, kind: 'tool' })).to.deep.include({ cost: 0, sum: null, source: 'sent' });
  });

  it('says why a cost is not known', async () => {
    const reasons = {
      not_priced: await explained({ kind: 'agent' }, gpt),
      no_model: await explained({}, { ...gpt, model: '' }),
      no_tokens: await explained({}, { ...gpt, outputTokens: 'many' }),
      no_price: await explained({}, { provider: 'nobody', model: 'knows' }),
    };
    for (const [reason, found] of Object.entries(reasons)) {
      expect(found).to.deep.include({ reason, cost: null, sum: null, source: 'unknown', lines: [] });
      expect(found.explanation, reason).to.be.a('string').with.length.above(20);
    }
    await prices.put('nobody', 'knows', { input_per_million: 0, output_per_million: 0 });
    expect((await explain(reasons.no_price.id)).json).to.deep.include({ reason: 'not_repriced', cost: null, sum: 0 });
  });

  it('wants the trace of a span whose id several have, and answers 404 for none', async () => {
    const spans = [uuid(901), uuid(902)].map((trace) => call(trace, { id: uuid(900), cost: 1 }));
    await prices.post(spans);
    expect((await explain(uuid(900))).status).to.equal(409);
    expect((await explain(uuid(900), `?trace_id=${uuid(902)}`)).json.trace_id).to.equal(uuid(902));
    expect((await explain(uuid(999))).status).to.equal(404);
  });

  it('has lines that make the list price of every model', () => {
    const price = createListPrices();
    const at = new Date('2026-01-15T03:00:00Z');
    let models = 0;
    for (const providerId of ['openai', 'anthropic', 'google', 'x-ai', 'deepseek', 'perplexity'])
      for (const { id: model } of findProvider({ providerId })?.models ?? [])
        for (const inputTokens of [0, 1000, 200_000, 300_001]) {
          const cached = {
            cacheReadTokens: Math.floor(inputTokens / 3),
            cacheWriteTokens: Math.floor(inputTokens / 5),
          };
          const usage = { provider: providerId, model, inputTokens, outputTokens: 777, ...cached, at };
          const total = price('', usage);
          const lines = atListPrice(usage)?.lines;
          const shown = `${providerId} ${model} ${JSON.stringify(lines)}`;
          expect(lines === undefined, shown).to.equal(total === null);
          if (lines === undefined || total === null) continue;
          models += 1;
          expect(
            lines.reduce((sum, { amount }) => sum + amount, 0),
            shown,
          ).to.be.closeTo(total, 1e-9);
          expect(lines.some((line) => line.class === 'other') && providerId === 'anthropic', shown).to.equal(false);
        }
    expect(models).to.be.greaterThan(200);
  });
});
