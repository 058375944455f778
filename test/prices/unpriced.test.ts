import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { ApiDocument } from '../harness/api-document.js';
import type { TestServer } from '../harness/server.js';
import { sharedServer } from '../harness/shared-server.js';
import { secondProject } from '../prompts/prompt-api.js';

describe('models without a price', () => {
  let server: TestServer;
  let document: ApiDocument;
  before(async () => {
    server = await sharedServer();
    document = await ApiDocument.of(server);
  });
  after(() => server.dispose());

  async function get(query = '', status = 200) {
    const path = `/projects/${server.projectId}/model-prices:unpriced?${query}`;
    const response = await server.request('GET', path);
    document.check('GET', path, response);
    expect(response.status, response.text).to.equal(status);
    return response.json;
  }

  it('are listed by the number of calls that have no cost', async () => {
    const call = (day: number, attributes: object, more: object = {}) => ({
      trace_id: randomUUID(),
      name: 'call',
      kind: 'llm',
      started_at: `2026-01-0${day}T00:00:00Z`,
      attributes: { inputTokens: 10, outputTokens: 1, ...attributes },
      ...more,
    });
    const house = { provider: 'house', model: 'big' };
    const body = [
      ...[1, 2, 3].map((day) => call(day, house)),
      call(4, { model: 'nobody-knows' }),
      // Of these the cost is known, was sent, or could not be told, or no model is called so.
      call(1, { provider: 'openai', model: 'gpt-4o-mini' }),
      call(1, house, { cost: 0 }),
      call(1, { ...house, inputTokens: null }),
      call(1, house, { kind: 'agent' }),
      call(1, { model: 'x'.repeat(5000) }),
    ];
    expect((await server.request('POST', '/spans', { body })).status).to.equal(200);
    const at = (day: number) => `2026-01-0${day}T00:00:00.000000Z`;
    const big = { ...house, spans: 3, input_tokens: 30, output_tokens: 3, latest_started_at: at(3), has_price: false };
    const unknown = {
      provider: null,
      model: 'nobody-knows',
      spans: 1,
      input_tokens: 10,
      output_tokens: 1,
      latest_started_at: at(4),
      has_price: false,
    };
    expect(await get()).to.deep.equal({ models: [big, unknown], total: 2, limit: 100, offset: 0 });
    const found = async (query: string) =>
      (await server.request('GET', `/spans?sort_order=asc&fields=started_at,model&${query}`)).json;
    expect(await found('unpriced=any')).to.deep.equal([
      ...[1, 2, 3].map((day) => ({ model: 'big', started_at: at(day) })),
      { model: 'nobody-knows', started_at: at(4) },
    ]);
    expect(await found('unpriced=any&models=big&providers=house')).to.have.length(big.spans);
    expect(await found('unpriced=no_provider&models=nobody-knows')).to.have.length(unknown.spans);
    expect(await found('unpriced=no_provider')).to.have.length(unknown.spans);
    const { totals } = (await server.request('GET', '/spans:stats?unpriced=any&measures=count')).json;
    expect(totals.count).to.equal(4);
    expect((await server.request('GET', '/spans?unpriced=true')).status).to.equal(422);
    expect(await get('limit=1&offset=1')).to.deep.equal({ models: [unknown], total: 2, limit: 1, offset: 1 });
    expect((await get(`started_before=${at(2)}`)).models[0].spans).to.equal(2);
    const price = `/projects/${server.projectId}/model-prices/house/big`;
    await server.request('PUT', price, { body: { input_per_million: 1, output_per_million: 1 } });
    expect((await get()).models[0]).to.deep.equal({ ...big, has_price: true });
    expect((await get('limit=0&started_after=x', 422)).errors).to.have.length(2);
    const other = secondProject(server);
    const path = `/projects/${other.projectId}/model-prices:unpriced`;
    expect((await server.request('GET', path, { key: other.key })).json).to.include({ total: 0 });
  });
});
