import { expect } from 'chai';
import { nearName } from '../../src/engine/validation/near-name.js';
import { JudgeApi } from '../judges/judge-api.js';
import type { TestServer } from '../harness/server.js';
import { sharedServer } from '../harness/shared-server.js';

describe('names that nothing knows', () => {
  let server: TestServer;
  let api: JudgeApi;

  before(async () => {
    server = await sharedServer();
    api = new JudgeApi(server);
    await api.expect(200, 'POST', '/v1/tasks/p/prompt/versions/ensure', { content: 'Say hello.' });
  });
  after(() => server.dispose());

  const JUDGE = { name: 'Polite', evaluation_type: 'binary', prompt: 'Is it polite?' };

  it('in the body of a judge are refused, with the name that is near', async () => {
    const judge = {
      ...JUDGE,
      filters: { kind: ['llm'] },
      sampleRate: 0.1,
      criteria: [{ key: 'a', lable: 'A' }],
      zebra: 1,
    };
    expect(await api.refused('POST', 'judges', judge)).to.deep.equal({
      '/criteria/0/lable': 'is unknown; did you mean label?',
      '/filters/kind': 'is unknown; did you mean kinds?',
      '/sampleRate': 'is unknown; did you mean sample_rate?',
      '/zebra': 'is unknown',
    });
    const { detail } = await api.expect(422, 'POST', 'judges', { ...JUDGE, filters: { kind: ['llm'] } });
    expect(detail).to.equal('/filters/kind is unknown; did you mean kinds?');
    expect(await api.expect(200, 'GET', 'judges')).to.deep.equal([]);
  });

  it('in other bodies, too', async () => {
    const { id } = await api.create({ enabled: false });
    const bodies: [string, string, unknown, string, string][] = [
      ['PATCH', `judges/${id}`, { sampling_rate: 0.5 }, '/sampling_rate', 'is unknown; did you mean sample_rate?'],
      ['POST', `judges/${id}:run`, { spanIds: [], limit: 1 }, '/spanIds', 'is unknown; did you mean span_ids?'],
      ['POST', `judges/${id}/evaluations`, { span: 'x' }, '/span', 'is unknown; did you mean span_id?'],
      [
        'POST',
        `judges/${id}/calibration:evaluate`,
        { max_span: 1 },
        '/max_span',
        'is unknown; did you mean max_spans?',
      ],
      ['POST', 'prompts/p/optimizations', { model_name: 'x' }, '/model_name', 'is unknown; did you mean model?'],
      ['PUT', 'model-prices/a/b', { input: 1 }, '/input', 'is unknown; did you mean input_per_million?'],
      ['POST', 'model-prices:reprice', { startedAfter: 0 }, '/startedAfter', 'is unknown; did you mean started_after?'],
      ['POST', 'api-keys', { name: 'x', role: 'read' }, '/role', 'is unknown'],
      ['POST', '/feedback-links', { prompt: 'p' }, '/prompt', 'is unknown; did you mean prompt_slug?'],
    ];
    for (const [method, path, body, pointer, detail] of bodies)
      expect(await api.refused(method, path, body), path).to.deep.include({ [pointer]: detail });
  });

  it('leave alone what has keys of its own', async () => {
    const filters = { tags: { anything: 'x', __proto: 'y' } };
    expect((await api.create({ filters, enabled: false }))['filters'].tags).to.deep.equal(filters.tags);
  });

  it('may be called like the prototype, be long and be many', async () => {
    const body = JSON.stringify(JUDGE).replace(/}$/, `,"__proto__":{},"constructor":1,"${'x'.repeat(1000)}":1}`);
    expect(await api.refused('POST', 'judges', body)).to.deep.equal({
      '/__proto__': 'is unknown',
      '/constructor': 'is unknown',
      [`/${'x'.repeat(100)}…`]: 'is unknown',
    });
    const many = `{${Array.from({ length: 90_000 }, (_, index) => `"sample_rate${index}":1`).join(',')}}`;
    const { errors } = await api.expect(422, 'POST', 'judges', many);
    expect(errors).to.have.length(100);
  }).timeout(20_000);

  it('in a query are refused, with those that are known', async () => {
    const { id } = await api.create({ enabled: false });
    const queries: [string, string][] = [
      ['/v1/prompts/p?label=production', '?label is unknown; supported: version, tag'],
      ['/v1/prompts/p?tags=production', '?tags is unknown; did you mean tag?'],
      ['/v1/tasks/p/prompt/latest?tag=x', '?tag is unknown; this call has no parameters'],
      [`judges/${id}/evaluations?feedbackState=x`, '?feedbackState is unknown; did you mean feedback_state?'],
      ['prompts/p/tags?Limit=7', '?Limit is unknown; this call has no parameters'],
      ['judges?Limit=7', '?Limit is unknown; did you mean limit?'],
    ];
    for (const [path, detail] of queries) expect(await api.expect(422, 'GET', path)).to.include({ detail });
    expect(await api.refused('GET', 'judges?limit=x&page=2&from=3')).to.deep.equal({
      '?limit': 'must be a whole number from 1 to 500',
      '?page': 'is unknown; supported: limit, offset, include, figures_since, count',
      '?from': 'is unknown; supported: limit, offset, include, figures_since, count',
    });
  });

  it('in the query of a page or of an operation are ignored', async () => {
    for (const path of ['/healthz?a=1', '/readyz?a=1', '/metrics?a=1', '/openapi.json?a=1', '/docs?utm_source=mail'])
      expect((await server.request('GET', path, { key: null })).status, path).to.equal(200);
  });

  it('are none of a closed body in the documentation, which says where they are named instead', async () => {
    const { components, paths } = (await server.request('GET', '/openapi.json', { key: null })).json;
    const { JudgeInput, SpanInput } = components.schemas;
    expect(JudgeInput.additionalProperties).to.equal(false);
    expect(JudgeInput.properties.filters.anyOf[0].additionalProperties).to.equal(false);
    expect(SpanInput.additionalProperties).to.equal(undefined);
    const stored = paths['/spans'].post.responses['200'].headers['X-Unknown-Fields'];
    expect(stored.description).to.contain('that this call does not know');
    expect(paths['/projects/{project_id}/judges'].post.responses['201']).to.not.have.property('headers');
  });

  it('have a near one when they are spelt alike, or hold it', () => {
    const known = ['span_ids', 'sample_rate', 'model', 'version', 'prompt_slug', 'score_min', 'id'];
    const near: Record<string, string | null> = {
      spanIds: 'span_ids',
      'Sample-Rate': 'sample_rate',
      sampelrate: 'sample_rate',
      model_name: 'model',
      base_version: 'version',
      slug: 'prompt_slug',
      scoremin: 'score_min',
      zebra: null,
      user_id: null,
      '': null,
      _: null,
      ['model'.repeat(20)]: null,
    };
    for (const [name, expected] of Object.entries(near)) expect(nearName(name, known), name).to.equal(expected);
  });
});
