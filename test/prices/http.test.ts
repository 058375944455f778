import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { expect } from 'chai';
import fc from 'fast-check';
import { costAt } from '../../src/features/prices/model-price.js';
import { DATABASE_FILE, openDatabase } from '../../src/engine/metadata/database.js';
import { bootServer, type TestServer } from '../harness/server.js';
import { secondProject } from '../prompts/prompt-api.js';
import { call, priceApi } from './price-api.js';

describe('model prices', () => {
  let server: TestServer;
  let api: ReturnType<typeof priceApi>;
  before(async () => {
    server = await bootServer();
    api = priceApi(server);
  });
  after(() => server.dispose());

  const costOf = async (attributes: Record<string, unknown>, change: Record<string, unknown> = {}) =>
    (await api.post([call(randomUUID(), change, attributes)]))[0].cost;

  it('are shown beside the list price of the model', async () => {
    const { json } = await api.put('openai', 'gpt-4o', { input_per_million: 1, output_per_million: 4 });
    const list_price = { input_per_million: 2.5, output_per_million: 10, cache_read_per_million: 1.25 };
    expect(json).to.deep.include({ input_per_million: 1, output_per_million: 4, list_price });
    expect((await api.remove('openai', 'gpt-4o')).status).to.equal(204);
  });

  it('are set, read, replaced, listed and deleted', async () => {
    const made = await api.put('acme', 'folder/model one', { input_per_million: 1.5, output_per_million: 0 });
    expect(made.status).to.equal(201);
    expect(made.json).to.deep.equal({
      provider: 'acme',
      model: 'folder/model one',
      input_per_million: 1.5,
      output_per_million: 0,
      cache_read_per_million: null,
      list_price: null,
      created_at: made.json.created_at,
      updated_at: made.json.created_at,
    });
    const replaced = await api.put('ACME', 'Folder/model one', {
      input_per_million: 2,
      output_per_million: 3,
      cache_read_per_million: 0.1,
    });
    expect(replaced.status).to.equal(200);
    expect(replaced.json).to.include({
      provider: 'acme',
      input_per_million: 2,
      cache_read_per_million: 0.1,
      created_at: made.json.created_at,
    });
    expect((await api.get('acme', 'folder/model one')).json).to.deep.equal(replaced.json);
    expect((await api.list()).json).to.deep.equal([replaced.json]);
    expect((await api.remove('acme', 'folder/model one')).status).to.equal(204);
    expect((await api.remove('acme', 'folder/model one')).status).to.equal(404);
    expect((await api.get('acme', 'folder/model one')).status).to.equal(404);
    expect((await api.list()).json).to.deep.equal([]);
  });

  it('are of one model, however provider and model are written', async () => {
    const rates = { input_per_million: 1, output_per_million: 2 };
    const path = `/projects/${server.projectId}/model-prices`;
    const put = async (names: string, input_per_million: number) => {
      const { status, json } = await api.request('PUT', `${path}/${names}`, { ...rates, input_per_million });
      return [status, json.provider, json.model, json.input_per_million];
    };
    expect(await put('openai/openai%2Fgpt-4o', 1)).to.deep.equal([201, 'openai', 'gpt-4o', 1]);
    expect(await put('openai/openai/gpt-4o', 2)).to.deep.equal([200, 'openai', 'gpt-4o', 2]);
    expect(await put('OpenAI/openai/openai/gpt-4o', 3)).to.deep.equal([200, 'openai', 'gpt-4o', 3]);
    expect(await put('openai/gpt-4o', 4)).to.deep.equal([200, 'openai', 'gpt-4o', 4]);
    expect(await put('openrouter/openai/gpt-4o', 5)).to.deep.equal([201, 'openrouter', 'openai/gpt-4o', 5]);
    expect(await put('acme/one', 6)).to.deep.equal([201, 'acme', 'one', 6]);
    expect(await put('meta-llama/Llama-3-8B', 7)).to.deep.equal([201, 'meta-llama', 'Llama-3-8B', 7]);
    const input = { outputTokens: 0 };
    const costs = [
      [{ provider: 'openai', model: 'openai/gpt-4o' }, 4],
      [{ provider: undefined, model: 'openai/gpt-4o' }, 4],
      [{ provider: undefined, model: 'gpt-4o' }, 4],
      [{ provider: 'judge-endpoint', model: 'gpt-4o' }, 4],
      [{ provider: 'openrouter', model: 'openai/gpt-4o' }, 5],
      [{ provider: undefined, model: 'openrouter/openai/gpt-4o' }, 5],
      [{ provider: undefined, model: 'acme/one' }, 6],
      [{ provider: 'judge-endpoint', model: 'acme/one' }, 6],
      [{ provider: undefined, model: 'one' }, 6],
      [{ provider: undefined, model: 'meta-llama/Llama-3-8B' }, 7],
      [{ provider: 'vllm', model: 'meta-llama/Llama-3-8B' }, null],
      [{ provider: 'acme', model: 'openai/gpt-4o' }, null],
    ] as const;
    for (const [names, cost] of costs)
      expect(await costOf({ ...names, ...input }), JSON.stringify(names)).to.equal(cost);
    expect((await put('other/one', 8))[0]).to.equal(201);
    expect(await costOf({ provider: undefined, model: 'one', ...input }), 'of one of two providers').to.equal(null);
    expect((await api.get('openai', 'openai/gpt-4o')).json).to.include({ model: 'gpt-4o' });
    for (const { provider, model } of (await api.list()).json as { provider: string; model: string }[])
      expect((await api.request('DELETE', `${path}/${provider}/${provider}/${model}`)).status).to.equal(204);
    expect((await api.list()).json).to.deep.equal([]);
  });

  it('that were set with the provider in the name of the model stay what they are', async () => {
    await api.put('acme', 'old', { input_per_million: 3, output_per_million: 0 });
    const database = openDatabase(join(server.dataDir, DATABASE_FILE));
    database.prepare(`UPDATE model_prices SET model = 'acme/old' WHERE model = 'old'`).run();
    database.close();
    expect(await costOf({ model: 'acme/old' })).to.equal(3);
    expect(await costOf({ model: 'old' })).to.equal(3);
    expect((await api.put('acme', 'old', { input_per_million: 4, output_per_million: 0 })).status).to.equal(200);
    expect(await costOf({ model: 'acme/old' })).to.equal(4);
    expect((await api.list()).json).to.have.length(1);
    expect((await api.remove('acme', 'old')).status).to.equal(204);
  });

  it('refuse what breaks rules, and other projects', async () => {
    const good = { input_per_million: 1, output_per_million: 1 };
    for (const body of [
      {},
      { input_per_million: 1 },
      { ...good, input_per_million: -1 },
      { ...good, output_per_million: '1' },
      { ...good, cache_read_per_million: -1 },
      { ...good, input_per_million: 1e10 },
      [],
    ])
      expect((await api.put('acme', 'bad', body)).status, JSON.stringify(body)).to.equal(422);
    expect((await api.put('acme', 'x'.repeat(257), good)).status).to.equal(422);
    expect((await api.put('a\nb', 'x', good)).status).to.equal(422);
    expect((await api.list()).json).to.deep.equal([]);
    const other = secondProject(server);
    expect((await priceApi({ ...server, key: other.key }).put('acme', 'x', good)).status).to.equal(403);
    expect((await priceApi({ ...server, key: other.key }).reprice()).status).to.equal(403);
  });

  it('refuse a name of a model with a slash at an end, as no call has one', async () => {
    const path = `/projects/${server.projectId}/model-prices`;
    const good = { input_per_million: 1, output_per_million: 1 };
    for (const names of ['openai/gpt-4o/', 'openai//x', 'openai/%2F', 'openai/a/b//', 'openai/%2Fx']) {
      const { status, json } = await api.request('PUT', `${path}/${names}`, good);
      expect(status, names).to.equal(422);
      expect(JSON.stringify(json.errors), names).to.contain('no slash at either end');
    }
    expect((await api.list()).json).to.deep.equal([]);
  });

  it('price spans from then on, before list prices, and stop when deleted', async () => {
    const gpt = { provider: 'openai', model: 'gpt-4o' };
    const list = await costOf(gpt);
    expect(list).to.be.greaterThan(0);
    expect(await costOf({ model: 'unheard of' })).to.equal(null);
    await api.put('openai', 'gpt-4o', { input_per_million: 10, output_per_million: 20, cache_read_per_million: 1 });
    await api.put('acme', 'unheard of', { input_per_million: 0, output_per_million: 0 });
    expect(await costOf(gpt)).to.equal(20);
    expect(await costOf({ ...gpt, provider: 'OpenAI', model: 'GPT-4o' })).to.equal(20);
    expect(await costOf({ ...gpt, cacheReadTokens: 400_000 })).to.equal(6 + 0.4 + 10);
    expect(await costOf({ ...gpt, inputTokens: 0, cacheReadTokens: 400_000 }), 'counted apart').to.equal(0.4 + 10);
    expect(await costOf({ ...gpt, cacheReadTokens: 900_000, cacheWriteTokens: 200_000 }), 'apart together').to.equal(
      10 + 0.9 + 2 + 10,
    );
    expect(await costOf({ model: 'unheard of' })).to.equal(0);
    expect(await costOf(gpt, { cost: 0.5 })).to.equal(0.5);
    expect(await costOf(gpt, { cost: 0 })).to.equal(0);
    expect(await costOf(gpt, { kind: 'generic' })).to.equal(null);
    const other = secondProject(server);
    const [foreign] = await priceApi({ ...server, key: other.key }).post([call(randomUUID(), {}, gpt)]);
    expect(foreign.cost).to.equal(list);
    await api.remove('openai', 'gpt-4o');
    expect(await costOf(gpt)).to.equal(list);
  });

  it('set by another process count for the next request', async () => {
    await api.put('acme', 'shared', { input_per_million: 1, output_per_million: 0 });
    expect(await costOf({ model: 'shared' })).to.equal(1);
    const database = openDatabase(join(server.dataDir, DATABASE_FILE));
    database.prepare(`UPDATE model_prices SET input_per_million = 7 WHERE model = 'shared'`).run();
    database.close();
    expect(await costOf({ model: 'shared' })).to.equal(7);
  });

  it('outlive a restart', async () => {
    const before = (await api.list()).json;
    await server.stop();
    server = await bootServer({ dataDir: server.dataDir });
    api = priceApi(server);
    expect((await api.list()).json).to.deep.equal(before);
    expect(await costOf({ model: 'shared' })).to.equal(7);
  }).timeout(30_000);
});

describe('the cost of a call', () => {
  const rates = (input: number, output: number, cacheRead: number | null = null) => ({
    input_per_million: input,
    output_per_million: output,
    cache_read_per_million: cacheRead,
  });
  const usage = (inputTokens: number, outputTokens: number, cacheReadTokens = 0) => ({
    inputTokens,
    outputTokens,
    cacheReadTokens,
  });

  it('is calculated in decimals', () => {
    expect(costAt(rates(0.1, 0.2), usage(1_000_000, 1_000_000))).to.equal(0.3);
    expect(costAt(rates(1.1, 0), usage(3_000_000, 0))).to.equal(3.3);
    expect(costAt(rates(0.000001, 0), usage(1, 0))).to.equal(1e-12);
    expect(costAt(rates(0.0000004, 0), usage(1, 0))).to.equal(0);
    expect(costAt(rates(0.0000005, 0), usage(1, 0))).to.equal(1e-12);
    expect(costAt(rates(0.15, 0.6, 0.075), usage(1000, 10, 400))).to.equal(0.000126);
    expect(costAt(rates(2, 0), usage(10, 0, 4))).to.equal(0.00002);
  });

  it('is that of whole-number arithmetic, for any rates and tokens', () => {
    const rate = fc.nat(1e9);
    const tokens = fc.nat(1e9);
    fc.assert(
      fc.property(rate, rate, tokens, tokens, (input, output, inTokens, outTokens) => {
        // Rates with six decimals and whole tokens give exactly twelve decimals.
        const exact = BigInt(input) * BigInt(inTokens) + BigInt(output) * BigInt(outTokens);
        const cost = costAt(rates(input / 1e6, output / 1e6), usage(inTokens, outTokens));
        expect(cost).to.equal(Number(`${exact}e-12`));
      }),
    );
  });
});
