import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { png } from '../attachments/images.js';
import { bootServer, type TestServer } from '../harness/server.js';
import { secondProject } from '../prompts/prompt-api.js';

const PADDING = 'x'.repeat(20_000);
const call = (more: object = {}) => ({
  ...{ id: randomUUID(), trace_id: randomUUID(), name: 'call', kind: 'llm', started_at: 1_769_853_600 },
  ...{ attributes: { model: 'house', provider: 'own', inputTokens: 1_000_000, outputTokens: 0 }, input_data: PADDING },
  ...more,
});

describe('threads that read bodies', function () {
  this.timeout(120_000);
  let server: TestServer;
  before(async () => {
    const module = new URL('./ending-body-thread.js', import.meta.url);
    server = await bootServer({ env: { INGEST_THREADS: '2' }, bodyThreads: { heapMb: 96, module } });
  });
  after(() => server.dispose());

  const post = (spans: unknown, key = server.key) => server.request('POST', '/spans', { body: spans, key });

  it('know a price that was set, or removed, before the request', async () => {
    const path = `/projects/${server.projectId}/model-prices/own/house`;
    for (let price = 1; price <= 20; price += 1) {
      const body = { input_per_million: price, output_per_million: 0 };
      expect((await server.request('PUT', path, { body })).status).to.be.oneOf([200, 201]);
      const answers = await Promise.all([post([call()]), post([call()])]);
      expect(answers.map(({ json }) => json[0].cost)).to.deep.equal([price, price]);
    }
    expect((await server.request('DELETE', path)).status).to.equal(204);
    expect((await post([call()])).json[0].cost).to.equal(null);
  });

  it('know masking rules that were set before the request', async () => {
    const path = `/projects/${server.projectId}/masking`;
    for (let n = 0; n < 10; n += 1) {
      const rules = n % 3 === 2 ? [] : [{ type: 'email', name: `mail-${n}` }];
      expect((await server.request('PUT', path, { body: { rules } })).status).to.equal(200);
      const output_data = 'of x@y.io';
      const answers = await Promise.all([post([call({ output_data })]), post([call({ output_data })])]);
      const masked = rules.length === 0 ? output_data : `of [mail-${n}]`;
      expect(answers.map(({ json }) => json[0].output_data)).to.deep.equal([masked, masked]);
    }
    await server.request('PUT', path, { body: { rules: [] } });
  });

  it('know a prompt that was made before the request', async () => {
    for (let n = 0; n < 5; n += 1) {
      const path = `/v1/tasks/p${n}/prompt/versions/ensure`;
      const made = await server.request('POST', path, { body: { content: `Say ${n}` } });
      expect(made.status, made.text).to.equal(200);
      const attributes = { prompt_version_id: made.json.version_id };
      const { json } = await post([call({ attributes })]);
      expect(json[0]).to.include({ prompt_slug: `p${n}`, prompt_version: 1 });
    }
  });

  it('leave images to the main thread', async () => {
    const image = png(10);
    const span = call({ attributes: { attachments: [{ base64: image.toString('base64') }] } });
    const { status, json } = await post([call(), span]);
    expect(status).to.equal(200);
    expect(json[1].attributes.attachments[0]).to.have.property('sha256');
    const bad = call({ attributes: { attachments: [{ base64: PADDING }] } });
    expect((await post([call(), bad])).status).to.equal(422);
  });

  it('that end fail one request, and others notice nothing', async () => {
    const { key } = secondProject(server);
    const ends = { 'end the thread': [503, 'unavailable'], 'take all memory': [413, 'too_large'] } as const;
    for (const [name, [status, kind]] of Object.entries(ends)) {
      const others = Array.from({ length: 10 }, () => post([call()], key));
      const failed = await post([call({ name })]);
      expect(failed.status, failed.text).to.equal(status);
      expect(failed.json.type).to.equal(`urn:spanhouse:problem:${kind}`);
      expect((await Promise.all(others)).map((other) => other.status)).to.deep.equal(Array<number>(10).fill(200));
      expect((await post([call()])).status).to.equal(200);
    }
    const { json } = await server.request('GET', '/spans?limit=100', { key });
    expect(json).to.have.length(20);
  });
});
