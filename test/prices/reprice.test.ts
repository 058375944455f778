import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { bootServer, type TestServer } from '../harness/server.js';
import { call, priceApi } from './price-api.js';

describe('recalculating stored costs', () => {
  let server: TestServer;
  let api: ReturnType<typeof priceApi>;
  before(async () => {
    server = await bootServer();
    api = priceApi(server);
  });
  after(() => server.dispose());

  const setRate = async (input_per_million: number, model = 'one') =>
    api.put('acme', model, { input_per_million, output_per_million: 0 });

  it('changes calculated costs and every figure, and nothing else', async () => {
    await setRate(1);
    const [trace, session] = [randomUUID(), randomUUID()];
    const rich = {
      session_id: session,
      session_name: 'named',
      parent_span_id: randomUUID(),
      status: 'error',
      ended_at: '2026-01-15T10:00:01.654321Z',
      duration_ms: 12.3456789,
      input_data: 'in\r\n\u0000 "é" 👩‍👧',
      output_data: '',
      tags: { a: '1', 'ü"': '\\' },
      trace_tags: { t: 'x' },
      session_tags: { s: 'y' },
      error_code: 'E',
      error_message: '',
      error_stack: 'at x',
      code_filepath: 'a.ts',
      code_lineno: 7,
    };
    const before = await api.post([
      call(trace, rich, { deep: { list: [1, 2.5, null, 'x'], __proto__x: 1 } }),
      call(trace, { cost: 0.25 }),
      call(trace, { cost: 0 }),
      call(trace, { kind: 'generic' }),
      call(trace, {}, { model: 'unknown to all' }),
    ]);
    expect(before.map(({ cost }: any) => cost)).to.deep.equal([1, 0.25, 0, null, null]);
    await setRate(3);
    await setRate(5, 'unknown to all');
    const job = await api.repriced();
    expect(job).to.include({ status: 'done', total: 2, examined: 2, changed: 2, error: null });
    const after = await api.spansOf(trace);
    for (const [index, span] of before.entries()) {
      const { created_at, ...found } = after.find(({ id }: any) => id === span.id);
      const { created_at: then, ...was } = span;
      const cost = [3, 0.25, 0, null, 5][index];
      expect(found).to.deep.equal({ ...was, cost });
      expect(created_at > then).to.equal(index === 0 || index === 4);
    }
    expect(await api.traceOf(trace)).to.include({ cost: 8.25, span_count: 5, session_id: session });
    const [sessionRead] = (await api.request('GET', `/sessions?id=${session}`)).json;
    expect(sessionRead).to.include({ cost: 8.25, trace_count: 1, name: 'named' });
    expect((await api.repriced()).changed, 'a second run has nothing to do').to.equal(0);
  });

  it('takes the list price, or none, when the own price was deleted', async () => {
    await setRate(1, 'fleeting');
    await api.put('openai', 'gpt-4o', { input_per_million: 100, output_per_million: 0 });
    const trace = randomUUID();
    const [known, fleeting] = await api.post([
      call(trace, {}, { provider: 'openai', model: 'gpt-4o' }),
      call(trace, {}, { model: 'fleeting' }),
    ]);
    expect([known.cost, fleeting.cost]).to.deep.equal([100, 1]);
    await api.remove('openai', 'gpt-4o');
    await api.remove('acme', 'fleeting');
    await api.repriced();
    const costs = new Map((await api.spansOf(trace)).map(({ id, cost }: any) => [id, cost]));
    expect(costs.get(known.id)).to.be.within(0.1, 99);
    expect(costs.get(fleeting.id)).to.equal(null);
    await setRate(2, 'fleeting');
    await api.repriced({ model: 'FLEETING' });
    expect((await api.traceOf(trace)).cost).to.equal(Number(costs.get(known.id)) + 2);
  });

  it('calculates as when the span came, also for cached tokens that were counted apart', async () => {
    const rates = (factor: number) =>
      api.put('acme', 'cached', {
        input_per_million: 4 * factor,
        output_per_million: 2 * factor,
        cache_read_per_million: factor,
      });
    await rates(1);
    const trace = randomUUID();
    const cached = { model: 'cached', cacheReadTokens: 3_000_000, cacheWriteTokens: 250_000 };
    const [span] = await api.post([call(trace, {}, cached)]);
    expect(span.cost).to.equal(4 + 3 + 1 + 1);
    expect((await api.repriced({ model: 'cached' })).changed).to.equal(0);
    await rates(10);
    expect((await api.repriced({ model: 'cached' })).changed).to.equal(1);
    expect((await api.spansOf(trace))[0].cost).to.equal(90);
  });

  it('keeps to its bounds, provider and model', async () => {
    await setRate(1, 'bounded');
    const trace = randomUUID();
    const times = ['2026-02-01T00:00:00Z', '2026-02-02T00:00:00Z', '2026-02-03T00:00:00Z', '2026-02-04T00:00:00Z'];
    await api.post(times.map((started_at) => call(trace, { started_at }, { model: 'bounded' })));
    await setRate(2, 'bounded');
    const costs = async () =>
      (await api.request('GET', `/spans?trace_id=${trace}&sort_order=asc`)).json.map(({ cost }: any) => cost);
    await api.repriced({ started_after: times[1], started_before: Date.parse(times[2] ?? ''), provider: 'Acme' });
    expect(await costs()).to.deep.equal([1, 2, 2, 1]);
    await api.repriced({ model: 'another' });
    await api.repriced({ provider: 'another' });
    expect(await costs()).to.deep.equal([1, 2, 2, 1]);
    await api.repriced({ provider: 'acme', model: 'Bounded' });
    expect(await costs()).to.deep.equal([2, 2, 2, 2]);
  });

  it('keeps to provider and model however spans and scope write them', async () => {
    const trace = randomUUID();
    const written = [
      { provider: 'openai', model: 'named' },
      { provider: 'openai', model: 'openai/named' },
      { provider: undefined, model: 'openai/named' },
      { provider: undefined, model: 'named' },
      { provider: 'openrouter', model: 'openai/named' },
      { provider: 'acme', model: 'openai/other' },
    ];
    await api.post(written.map((names, index) => call(trace, { started_at: 1_771_000_000 + index }, names)));
    await api.put('openai', 'named', { input_per_million: 1, output_per_million: 0 });
    await api.put('openrouter', 'openai/named', { input_per_million: 2, output_per_million: 0 });
    const changed = async (scope: Record<string, unknown>) => {
      await api.repriced(scope);
      const spans = (await api.request('GET', `/spans?trace_id=${trace}&sort_order=asc`)).json;
      return spans.map(({ cost }: any) => cost);
    };
    expect(await changed({ provider: 'openrouter' })).to.deep.equal([null, null, null, null, 2, null]);
    expect(await changed({ provider: 'OpenAI', model: 'openai/named' })).to.deep.equal([1, 1, 1, 1, 2, null]);
    await api.put('openai', 'named', { input_per_million: 3, output_per_million: 0 });
    expect(await changed({ model: 'named' })).to.deep.equal([3, 3, 3, 3, 2, null]);
    await api.put('openai', 'named', { input_per_million: 4, output_per_million: 0 });
    await api.put('openrouter', 'openai/named', { input_per_million: 5, output_per_million: 0 });
    expect(await changed({ model: 'openai/named' }), 'as it is written, too').to.deep.equal([4, 4, 4, 4, 5, null]);
    await api.put('openai', 'named', { input_per_million: 6, output_per_million: 0 });
    expect(await changed({ provider: 'openai' })).to.deep.equal([6, 6, 6, 6, 5, null]);
  });

  it('does not make an old write the latest', async () => {
    await setRate(1, 'order');
    const [trace, earlier, later] = [randomUUID(), randomUUID(), randomUUID()];
    const tags = (value: string) => ({ trace_tags: { t: value }, session_tags: { s: value } });
    await api.post([call(trace, { session_id: earlier, ...tags('old') }, { model: 'order' })]);
    await api.post([call(trace, { session_id: later, cost: 1, ...tags('new') })]);
    const before = await api.traceOf(trace);
    expect(before).to.deep.include({ session_id: later, tags: { t: 'new' }, cost: 2 });
    await setRate(9, 'order');
    expect((await api.repriced({ model: 'order' })).changed).to.equal(1);
    expect(await api.traceOf(trace)).to.deep.equal({ ...before, cost: 10 });
    const sessions = (await api.request('GET', '/sessions')).json;
    expect(sessions.find(({ id }: any) => id === later)).to.deep.include({ cost: 10, tags: { s: 'new' } });
    expect(sessions.find(({ id }: any) => id === earlier)).to.deep.include({ trace_count: 0, cost: null });
  });

  it('leaves what clients write meanwhile as they wrote it', async () => {
    await setRate(1, 'raced');
    const trace = randomUUID();
    const spans = Array.from({ length: 300 }, (_, index) =>
      call(trace, { name: 'first', started_at: 1_770_000_000 + index }, { model: 'raced' }),
    );
    await api.post(spans);
    await setRate(2, 'raced');
    const job = (await api.reprice({ model: 'raced' })).json;
    const final = new Map(spans.map((span) => [span.id, { name: 'first', cost: 2 }]));
    for (let round = 0; round < 6; round += 1) {
      const resent = spans.slice(round * 40, round * 40 + 40).map((span, index) => ({
        ...span,
        name: `again ${round}`,
        ...(index % 2 === 0 ? { cost: 0.5 } : {}),
      }));
      await api.post(resent);
      for (const span of resent) final.set(span.id, { name: span.name, cost: 'cost' in span ? 0.5 : 2 });
    }
    const gone = spans.slice(280).map(({ id }) => id);
    for (const id of gone.slice(0, 5)) {
      expect((await api.request('DELETE', `/spans/${id}`)).status).to.equal(204);
      final.delete(id);
    }
    expect(await api.ended(job.id)).to.include({ status: 'done' });
    const stored = await api.spansOf(trace);
    expect(new Map(stored.map(({ id, name, cost }: any) => [id, { name, cost }]))).to.deep.equal(final);
    const sum = [...final.values()].reduce((total, { cost }) => total + cost, 0);
    expect(await api.traceOf(trace)).to.include({ cost: sum, span_count: final.size });
  }).timeout(60_000);

  it('keeps the images of a span', async () => {
    await setRate(1, 'painter');
    const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
    const [span] = await api.post([
      call(randomUUID(), {}, { model: 'painter', attachments: [{ type: 'image', label: 'dot', base64: png }] }),
    ]);
    await setRate(2, 'painter');
    expect((await api.repriced({ model: 'painter' })).changed).to.equal(1);
    const database = await import('../../src/engine/metadata/database.js');
    const opened = database.openDatabase(`${server.dataDir}/${database.DATABASE_FILE}`);
    const namings = opened
      .prepare('SELECT count(DISTINCT version) FROM attachment_namings WHERE span_id = ? AND version IS NOT NULL')
      .pluck()
      .get(span.id);
    opened.close();
    expect(namings, 'both versions name the image').to.equal(2);
    const { json } = await api.request('GET', `/spans/${span.id}/attachments`);
    expect(json.count).to.equal(1);
    expect((await fetch(json.attachments[0].url)).status).to.equal(200);
  });

  it('can be cancelled until it has ended, and tells how far it is', async () => {
    await setRate(1, 'cancelled');
    await api.post([call(randomUUID(), {}, { model: 'cancelled' })]);
    // One at a time of each project: the second one waits for the first.
    const jobs = [await api.reprice(), await api.reprice({ model: 'cancelled' })].map(({ json }) => json);
    const { status, json } = await api.cancel(jobs[1].id);
    expect([status, json.status, json.done, json.model]).to.deep.equal([200, 'cancelled', 0, 'cancelled']);
    expect((await api.cancel(jobs[1].id)).status).to.equal(409);
    const first = await api.ended(jobs[0].id);
    expect(first).to.include({ status: 'done', phase: null, done: first.total, examined: first.total });
    expect((await api.cancel(first.id)).status).to.equal(409);
    expect((await api.cancel(randomUUID())).status).to.equal(404);
    expect((await api.job(jobs[1].id)).json).to.deep.equal(json);
  });

  it('refuses what breaks rules', async () => {
    for (const body of [
      { started_after: 'yesterday' },
      { started_after: '2026-02-02', started_before: '2026-02-01' },
      { provider: '' },
      { model: 7 },
      [],
    ])
      expect((await api.reprice(body)).status, JSON.stringify(body)).to.equal(422);
    expect((await api.job(randomUUID())).status).to.equal(404);
    expect((await api.job('no-uuid')).status).to.equal(422);
    const [newest] = (await api.jobs()).json;
    expect((await api.job(newest.id)).json).to.deep.equal(newest);
  });
});
