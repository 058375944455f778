import { expect } from 'chai';
import { span, uuid, type CheckedApi, type Row } from '../harness/checked-api.js';
import { SpanSender } from './span-sender.js';

describe('fields that nobody documented', () => {
  let sender: SpanSender;
  let api: CheckedApi;

  before(async () => {
    sender = await SpanSender.boot();
    ({ api } = sender);
  });
  after(() => sender.dispose());

  /** What the answer to the spans (or other elements) does not know. */
  async function unknownOf(path: string, body: unknown, method = 'POST'): Promise<string | null> {
    const response = await api.server.request(method, path, { body });
    expect(response.status, `${path}: ${response.text}`).to.equal(200);
    return response.headers.get('x-unknown-fields');
  }

  it('of a span become attributes, and are named in the order in which they came', async () => {
    const sent = sender.span({
      model: 'gpt-4o',
      usage: { total: 7 },
      code: 'x',
      session_name: 'a chat',
      choices: [{ variant: 'b' }],
      experiment_result_id: 7,
      metadata: { a: [1] },
      nothing: null,
    });
    expect(await unknownOf('/spans', [sent])).to.equal('model, usage, code, choices, experiment_result_id, metadata');
    const { session_name, attributes } = await api.one('spans', sent['id'] as string);
    expect(session_name).to.equal('a chat');
    expect(attributes).to.deep.equal({
      model: 'gpt-4o',
      usage: { total: 7 },
      code: 'x',
      choices: [{ variant: 'b' }],
      experiment_result_id: 7,
      metadata: { a: [1] },
    });
  });

  it('never replace an attribute that is there', async () => {
    const read = await sender.store({ attributes: { model: 'sent', none: null }, model: 'kept', none: 1, more: 2 });
    expect(read['attributes']).to.deep.equal({ model: 'sent', none: null, more: 2 });
  });

  it('make a call of a model that has a price', async () => {
    const call = { kind: 'llm', provider: 'openai', model: 'gpt-4o', inputTokens: 1000, outputTokens: 100 };
    expect((await sender.store(call))['cost']).to.be.greaterThan(0);
  });

  it('with images are taken for attachments, and refused like these', async () => {
    const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
    const { id, attributes } = await sender.store({ attachments: [{ type: 'image', base64: png }] });
    expect(attributes['attachments'][0]).to.not.have.property('base64');
    const { json } = await api.server.request('GET', `/spans/${id}/attachments`);
    expect(json.count).to.equal(1);
    expect(await sender.issues({ attachments: [{ base64: 'bm90aGluZw==' }] })).to.have.all.keys(
      'attributes/attachments/0/base64',
    );
  });

  it('of a session in a span are named only', async () => {
    const session = { id: uuid(900), name: 'chat', plan: 'pro', tier: null };
    expect(await unknownOf('/spans', [sender.span({ session })])).to.equal('session.plan');
    expect(await api.one('sessions', uuid(900))).to.deep.include({ name: 'chat', attributes: {} });
  });

  it('of posted traces and sessions become attributes', async () => {
    const trace = { id: uuid(901), session_id: uuid(902), name: 't', started_at: 0, code: 'x', attributes: { a: 1 } };
    expect(await unknownOf('/traces', [trace])).to.equal('code');
    expect((await api.one('traces', uuid(901)))['attributes']).to.deep.equal({ code: 'x', a: 1 });
    const session = { id: uuid(902), project_id: api.server.projectId, code: 'y' };
    expect(await unknownOf('/sessions', [session])).to.equal('code');
    expect((await api.one('sessions', uuid(902)))['attributes']).to.deep.equal({ code: 'y' });
  });

  it('are none where an answer is sent back', async () => {
    const [read] = await api.post('spans', [sender.span({ session_id: uuid(903), tags: { a: '1' } })]);
    expect(await unknownOf('/spans', [read])).to.equal(null);
    const trace = await api.one('traces', (read as Row)['trace_id']);
    expect(await unknownOf('/traces', [trace])).to.equal(null);
    expect(await unknownOf('/sessions', [await api.one('sessions', uuid(903))])).to.equal(null);
  });

  it('of prompts and feedback are named, and change nothing', async () => {
    const version = { content: 'Say hello.', code: 'x', metadata: { any: 1 }, model_id: null };
    expect(await unknownOf('/v1/tasks/lenient/prompt/versions/ensure', version)).to.equal('code');
    const prompt = `/projects/${api.server.projectId}/prompts/lenient`;
    expect(await unknownOf(`${prompt}/tags/live:pin`, { version: 1, tag: 'live' })).to.equal('tag');
    expect(await unknownOf(`${prompt}/versions/1`, { model_id: 'gpt-4o', provider: 'x' }, 'PATCH')).to.equal(
      'provider',
    );
    const feedback = { thumbs_up: true, experiment_result_id: 7, ab_choices: null, metadata: { a: 1 } };
    const path = `/v1/prompts/lenient/completions/${uuid(904)}/feedback`;
    expect(await unknownOf(path, feedback)).to.equal('experiment_result_id');
    expect(await unknownOf(`${path}?dry_run=1`, feedback)).to.equal('dry_run, experiment_result_id');
  });

  it('are named without end, but not in a header without end', async () => {
    const fields = Object.fromEntries(Array.from({ length: 30 }, (_, index) => [`f${index}`, 1]));
    const twenty = Array.from({ length: 20 }, (_, index) => `f${index}`).join(', ');
    expect(await unknownOf('/spans', [sender.span(fields), sender.span(fields)])).to.equal(`${twenty}, ...`);
    const odd = { 'é, \n': 1, ['x'.repeat(5000)]: 1, ['é'.repeat(50)]: 1 };
    const shown = ['%C3%A9%2C%20%0A', `${'x'.repeat(100)}...`, `${'%C3%A9'.repeat(16)}...`];
    expect(await unknownOf('/spans', [sender.span(odd)])).to.equal(shown.join(', '));
  });

  it('may be called like the prototype', async () => {
    const element = JSON.stringify(span(sender.number())).replace(/}$/, ',"__proto__":{"a":1},"constructor":2}');
    const { json, headers } = await api.send('POST', 'spans', '', { body: `[${element}]` });
    expect(headers.get('x-unknown-fields')).to.equal('__proto__, constructor');
    expect(JSON.stringify(json[0].attributes)).to.equal('{"__proto__":{"a":1},"constructor":2}');
  });
});
