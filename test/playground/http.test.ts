import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { answersOf, blocks, chapter } from '../docs/commands.js';
import { sharedServer } from '../harness/shared-server.js';
import { eventually, JudgeApi, JudgeBench, type Json } from '../judges/judge-api.js';
import type { Script } from '../judges/model-endpoint.js';

const says = (content: string, more: object = {}): Script => ({ do: 'answer', content, ...more });
const user = (content: string) => ({ role: 'user', content });
const ended = { finish_reason: 'stop', refused: false };
const ASK = { messages: [user('Say hello.')] };

describe('the playground', function () {
  this.timeout(60_000);
  let bench: JudgeBench;
  let api: JudgeApi;

  before(async () => {
    bench = await JudgeBench.boot({ JUDGE_LLM_TIMEOUT_SECONDS: '1' }, { limits: { modelAnswerCharacters: 1000 } });
    ({ api } = bench);
  });
  beforeEach(() => bench.endpoint.reset(() => says('Hello!')));
  after(() => bench.dispose());

  const run = (body: Json = ASK, by = api): Promise<Json> => by.expect(200, 'POST', 'playground:run', body);
  const estimate = (body: Json = ASK): Promise<Json> => api.expect(200, 'POST', 'playground:estimate', body);
  const spanOf = async ({ span_id }: Json): Promise<Json | undefined> =>
    (await api.expect(200, 'GET', `/spans?id=${span_id}`))[0];
  const usage = (by = api): Promise<Json> => by.expect(200, 'GET', 'internal-usage');
  const version = (slug: string, content: string, model_id: string | null = null): Promise<Json> =>
    api.expect(200, 'POST', `/v1/tasks/${slug}/prompt/versions/ensure`, { content, model_id });

  it('asks what it is told to, and stores the call as a span of its own, priced and internal', async () => {
    const before = await usage();
    const messages = [
      { role: 'system', content: 'Be brief.' },
      user('Ho?'),
      { role: 'assistant', content: 'Ho.' },
      user('Hi'),
    ];
    const answered = await run({ messages, model: 'gpt-4o', temperature: 0.5 });
    const asked = bench.endpoint.asked[0]?.body;
    expect(asked).to.include({ model: 'gpt-4o', temperature: 0.5 });
    expect(asked.messages).to.deep.equal(messages);
    expect(answered).to.deep.include({
      model: 'gpt-4o',
      output: 'Hello!',
      refusal: null,
      failure: null,
      finish_reason: 'stop',
      usage: { input_tokens: 1000, output_tokens: 100, cached_tokens: 0 },
      cost: 0.0035,
    });
    const span = (await spanOf(answered)) as Json;
    expect(span).to.deep.include({
      trace_id: answered['trace_id'],
      name: 'playground',
      kind: 'llm',
      status: 'ok',
      cost: 0.0035,
      output_data: 'Hello!',
    });
    expect(JSON.parse(span['input_data'])).to.deep.equal(messages);
    const { id } = (await api.expect(200, 'GET', '/whoami')).user;
    expect(span['tags']).to.deep.equal({ 'spanhouse.playground': id });
    expect(span['attributes'].spanhouse).to.deep.equal({ temperature: 0.5, ...ended });
    for (const list of ['spans', 'traces']) {
      expect(await api.expect(200, 'GET', `/${list}?started_after=1h`), list).to.deep.equal([]);
      const own = await api.expect(200, 'GET', `/${list}?internal=only`);
      expect(own, list).to.have.length(Number(before['total'].calls) + 1);
    }
    const { groups } = await usage();
    expect(groups).to.deep.include({
      purpose: 'playground',
      id,
      name: 'Owner',
      subject_id: id,
      calls: 1,
      errors: 0,
      input_tokens: 1000,
      output_tokens: 100,
      cost: 0.0035,
    });
  });

  it('says beforehand what a call comes to, without making it', async () => {
    expect(await estimate({ messages: [user('x'.repeat(40_000)), user('y')], model: 'gpt-4o' })).to.deep.include({
      model: 'gpt-4o',
      input_tokens: 10_001,
      input_cost: 0.0250025,
      cost_per_1000_output_tokens: 0.01,
      cost_unknown_reason: null,
    });
    const unknown = await estimate({ ...ASK, model: 'home-made' });
    expect(unknown).to.deep.include({ input_cost: null, cost_per_1000_output_tokens: null });
    expect(unknown['cost_unknown_reason']).to.equal(
      'The model home-made has no price; set a custom price in the project',
    );
    expect(bench.endpoint.asked).to.deep.equal([]);
  });

  it('works as it is written in the manual', async () => {
    const [estimated, answered] = await answersOf(blocks(chapter('playground'))[0] ?? '', bench.server);
    expect(estimated).to.deep.include({ model: 'gpt-4o-mini', input_tokens: 3 });
    expect(answered).to.deep.include({ model: 'gpt-4o-mini', output: 'Hello!' });
  });

  it('asks the model that is bound to the version, and keeps which version it was', async () => {
    const made = await version('greeter', 'Greet {{name}}.', 'gpt-4.1');
    const source = { prompt_slug: 'greeter', version: 1 };
    expect(await estimate({ ...ASK, source })).to.include({ model: 'gpt-4.1' });
    expect(await run({ ...ASK, source })).to.include({ model: 'gpt-4.1' });
    const span = (await spanOf(await run({ ...ASK, source, model: 'gpt-4o' }))) as Json;
    expect(span['name']).to.equal('playground greeter');
    expect(span['attributes'].spanhouse).to.deep.equal({ ...source, prompt_version_id: made['id'], ...ended });
    await api.expect(404, 'POST', 'playground:run', { ...ASK, source: { ...source, version: 9 } });
    await api.expect(404, 'POST', 'playground:estimate', { ...ASK, source: { ...source, prompt_slug: 'none' } });
  });

  it('believes an endpoint no more than a call can be', async () => {
    const choices = [{ message: { role: 'assistant', content: 'ok' }, finish_reason: 'f'.repeat(100_000) }];
    const usage = { prompt_tokens: 1e300, completion_tokens: 1 };
    bench.endpoint.reset(() => ({ do: 'raw', text: JSON.stringify({ choices, usage }) }));
    const answered = await run();
    expect(answered).to.deep.include({ output: 'ok', finish_reason: 'f'.repeat(100), usage: null, cost: null });
    expect((await spanOf(answered))?.['attributes'].spanhouse.finish_reason).to.have.length(100);
  });

  it('answers what went wrong with the model in general words, and stores that, too', async () => {
    const cases: [string, Script, Json][] = [
      [
        'status',
        { do: 'status', status: 500, body: { error: { message: 'host secret-7 burns' } } },
        { code: '500', retryable: true },
      ],
      ['limit', { do: 'status', status: 429 }, { code: '429', retryable: true }],
      ['cut', { do: 'cut' }, { code: 'connection', retryable: true }],
      ['half', { do: 'cut', after: 'half' }, { code: 'connection', retryable: true }],
      ['no answer', { do: 'raw', text: '[[[' }, { code: 'answer', retryable: true }],
      ['timeout', { do: 'hang' }, { code: 'timeout', retryable: true }],
      ['drip', { do: 'drip' }, { code: 'timeout', retryable: true }],
    ];
    const answers = await Promise.all(
      cases.map(async ([name, script, failure]) => {
        bench.endpoint.script = ({ last }) => cases.find(([each]) => each === last)?.[1] ?? script;
        const answered = await run({ messages: [user(name)] });
        expect(answered, name).to.include({ output: null, refusal: null, usage: null, cost: null });
        expect({ code: answered['failure']?.code, retryable: answered['failure']?.retryable }, name).to.deep.equal(
          failure,
        );
        expect(JSON.stringify(answered)).not.to.contain('secret-7');
        return answered;
      }),
    );
    for (const answered of answers)
      expect(await spanOf(answered)).to.include({
        status: 'error',
        error_code: answered['failure'].code,
        error_message: answered['failure'].message,
      });
  });

  it('tells a refusal from an answer, and an answer that was cut', async () => {
    bench.endpoint.reset(() => says('', { with: { content: null, refusal: 'I may not.' } }));
    expect(await run()).to.include({ output: null, refusal: 'I may not.', failure: null });
    bench.endpoint.reset(() => says('y'.repeat(2000), { usage: null }));
    const { output, finish_reason, usage: none, cost } = await run();
    expect([finish_reason, none, cost]).to.deep.equal(['length', null, null]);
    expect(output.length).to.equal(1000);
  });

  it('ends the call when the client leaves', async () => {
    bench.endpoint.reset(() => ({ do: 'hang' }));
    const leaving = new AbortController();
    const left = fetch(`${bench.server.url}/projects/${bench.server.projectId}/playground:run`, {
      method: 'POST',
      headers: { authorization: `Bearer ${bench.server.key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ messages: [user('leaving')] }),
      signal: leaving.signal,
    }).catch(() => 'left');
    await eventually(
      () => Promise.resolve(bench.endpoint.underWay),
      (count) => count === 1,
    );
    leaving.abort();
    expect(await left).to.equal('left');
    await eventually(
      () => Promise.resolve(bench.endpoint.underWay),
      (count) => count === 0,
    );
    const stored = await eventually(
      () => api.expect(200, 'GET', '/spans?internal=only&q=leaving'),
      (found: Json[]) => found.length === 1,
    );
    expect(stored[0]).to.include({ status: 'error', error_code: 'aborted' });
  });

  it('refuses more than a few calls of a project at once, and lets another in', async () => {
    bench.endpoint.reset(({ last }) => (last === 'wait' ? { do: 'hang' } : says('Hello!')));
    const other = bench.project(`other ${randomUUID()}`);
    const all = Array.from({ length: 14 }, () => api.call('POST', 'playground:run', { messages: [user('wait')] }));
    const refused = await Promise.race(all);
    expect(refused.status).to.equal(429);
    expect(refused.headers.get('retry-after')).to.equal('1');
    expect(refused.json.detail).to.contain('playground calls');
    expect(await run(ASK, other)).to.include({ output: 'Hello!' });
    expect((await usage(other))['total']).to.include({ calls: 1 });
    const statuses = (await Promise.all(all)).map(({ status }) => status);
    expect(statuses.filter((status) => status === 429)).to.have.length(2);
  });

  it('shows a project nothing of another', async () => {
    const other = bench.project(`stranger ${randomUUID()}`);
    const span = await api.postOne();
    const refused = await other.refused('POST', 'playground:run', { ...ASK, source: { span_id: span['id'] } });
    expect(refused).to.deep.equal({ '/source/span_id': 'there is no span with this id' });
    await version('mine', 'Mine.');
    await other.expect(404, 'POST', 'playground:estimate', { ...ASK, source: { prompt_slug: 'mine', version: 1 } });
    expect(bench.endpoint.asked).to.deep.equal([]);
  });

  it('deletes calls with the span that they were made from, and calls made from these', async () => {
    const span = await api.postOne({ input_data: 'a secret' });
    const first = await run({ messages: [user('a secret, changed')], source: { span_id: span['id'] } });
    const second = await run({ messages: [user('a secret, changed twice')], source: { span_id: first['span_id'] } });
    const unrelated = await run();
    expect((await spanOf(first))?.['attributes'].spanhouse).to.deep.equal({ span_id: span['id'], ...ended });
    await api.expect(204, 'DELETE', `/spans/${span['id']}`);
    expect(await Promise.all([spanOf(first), spanOf(second)])).to.deep.equal([undefined, undefined]);
    expect(await spanOf(unrelated)).to.include({ output_data: 'Hello!' });
  });

  it('stores nothing of a span that is deleted while the model answers', async () => {
    const span = await api.postOne();
    bench.endpoint.reset(() => ({ do: 'hang' }));
    const asking = api.refused('POST', 'playground:run', {
      messages: [user('too late')],
      source: { span_id: span['id'] },
    });
    await eventually(
      () => Promise.resolve(bench.endpoint.underWay),
      (count) => count === 1,
    );
    await api.expect(204, 'DELETE', `/spans/${span['id']}`);
    expect(await asking).to.deep.equal({ '/source/span_id': 'the span was deleted in the meantime' });
    expect(await api.expect(200, 'GET', '/spans?internal=only&q=late')).to.deep.equal([]);
  });

  it('refuses what is no conversation, with everything that is wrong', async () => {
    expect(await api.refused('POST', 'playground:run', {})).to.deep.equal({ '/messages': 'is required' });
    expect(
      await api.refused('POST', 'playground:run', {
        messages: [{ role: 'tool', content: 1 }],
        temperature: 9,
        model: 'a\nb',
        source: { span_id: 'x' },
        top_p: 1,
      }),
    ).to.have.all.keys(
      '/messages/0/role',
      '/messages/0/content',
      '/temperature',
      '/model',
      '/source/span_id',
      '/top_p',
    );
    const many = { messages: Array.from({ length: 501 }, () => user('a')) };
    expect(await api.refused('POST', 'playground:run', many)).to.have.all.keys('/messages');
    await api.expect(413, 'POST', 'playground:run', { messages: [user('x'.repeat(3_000_000))] });
    expect(await api.refused('POST', 'playground:run', { ...ASK, source: { version: 1 } })).to.deep.equal({
      '/source/prompt_slug': 'is required: send prompt_slug and version together',
    });
    expect(bench.endpoint.asked).to.deep.equal([]);
  });

  it('sends texts as they are, of whatever characters', async () => {
    const hostile = 'a\u0000\u202e</script>{{name}}😀\ud800';
    bench.endpoint.reset(({ last }) => says(last));
    const answered = await run({ messages: [user(hostile)] });
    expect(answered['output']).to.contain('</script>{{name}}😀');
    expect((await spanOf(answered))?.['output_data']).to.contain('</script>{{name}}😀');
  });

  it('is for keys that may change things; an estimate for those that read', async () => {
    const made = await api.expect(201, 'POST', 'api-keys', { name: 'reader', access: 'read' });
    const by = (path: string) =>
      bench.server.request('POST', `/projects/${bench.server.projectId}/${path}`, { key: made.key, body: ASK });
    expect((await by('playground:run')).status).to.equal(403);
    expect((await by('playground:estimate')).status).to.equal(200);
  });

  it('says what to set when no endpoint is configured, or no model', async () => {
    const server = await sharedServer();
    try {
      for (const path of ['playground:run', 'playground:estimate']) {
        const { detail } = await new JudgeApi(server).expect(409, 'POST', path, ASK);
        expect(detail).to.equal('No model endpoint is configured: set JUDGE_LLM_BASE_URL');
      }
    } finally {
      await server.dispose();
    }
  });
});
