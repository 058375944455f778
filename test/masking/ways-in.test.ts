import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { ApiDocument } from '../harness/api-document.js';
import { bootServer, type TestServer } from '../harness/server.js';
import { at, langfuse } from '../langfuse/langfuse-client.js';
import { dotted, langsmith } from '../langsmith/langsmith-client.js';
import { GrpcExporter, message } from '../otlp/grpc-exporter.js';
import { attributes, otlpSpan, request, spanId, toProtobuf, TRACE_UUID } from '../otlp/requests.js';
import { promptApi, secondProject } from '../prompts/prompt-api.js';

const MAIL = 'anna@example.com';
const AT = '2026-01-31T10:00:00.000000Z';
const SAID = `write to ${MAIL} or call +1 415 555 2671`;
const MASKED = /^write to \[mail:[0-9a-f]{16}\] or call \[phone\]$/;
const RULES = [
  { name: 'mail', type: 'email', action: 'hash' },
  { type: 'phone' },
  { name: 'secret', type: 'path', path: '$..secret', action: 'drop' },
];

describe('masking before storage', function () {
  this.timeout(60_000);
  let server: TestServer;
  let document: ApiDocument;
  let path: string;
  before(async () => {
    server = await bootServer({ env: { INGEST_THREADS: '1', OTLP_GRPC_PORT: '0' } });
    document = await ApiDocument.of(server);
    path = `/projects/${server.projectId}/masking`;
    await set(RULES);
  });
  after(() => server.dispose());

  const ask = async (method: string, url: string, body?: unknown, status = 200): Promise<any> => {
    const answer = await server.request(method, url, body === undefined ? {} : { body });
    expect(answer.status, answer.text).to.equal(status);
    return answer.json;
  };
  async function set(rules: readonly unknown[]) {
    const answer = await server.request('PUT', path, { body: { rules } });
    expect(answer.status, answer.text).to.equal(200);
    document.check('PUT', path, answer);
    return answer.json;
  }
  const span = (more: object = {}) => ({
    ...{ id: randomUUID(), trace_id: randomUUID(), name: 'call', kind: 'llm', started_at: AT },
    ...more,
  });
  const spanOf = (id: string) => ask('GET', `/spans/${id}`);
  /** Nothing of what is stored has the address. */
  const expectNone = (...stored: unknown[]) =>
    expect(JSON.stringify(stored)).not.to.contain('anna').and.not.to.contain('2671');

  it('masks spans of the REST API, alone, in batches and in threads, equally each time', async () => {
    const said = { user: MAIL, note: { deep: [SAID] }, secret: 'x', other: SAID };
    const sent = span({
      ...{
        input_data: { messages: [{ content: SAID, secret: 'x', n: 1.5 }] },
        output_data: SAID,
        name: `mail ${MAIL}`,
      },
      ...{ error_message: SAID, attributes: said },
      ...{ tags: { user: MAIL, keep: 'true' }, session_id: randomUUID(), session_name: SAID, unknown_field: SAID },
    });
    const call = { provider: 'openai', model: 'gpt-4o', inputTokens: 1_000_000, outputTokens: 0 };
    const [small] = await ask('POST', '/spans', [{ ...sent, attributes: { ...said, ...call } }]);
    expect(small.output_data).to.match(MASKED);
    expect(small.tags).to.deep.equal({ user: small.attributes.user, keep: 'true' });
    expect(JSON.parse(small.input_data).messages[0]).to.deep.include({ secret: null, n: 1.5 });
    expect(small.attributes).to.include({ secret: null, model: 'gpt-4o' });
    expect([small.cost, small.input_tokens, small.started_at]).to.deep.equal([2.5, 1_000_000, AT]);
    expectNone(small);
    const stored = await spanOf(sent.id);
    expect({ ...stored, created_at: '' }).to.deep.equal({ ...small, created_at: '' });
    // Large enough for a thread, and sent twice.
    const padded = { ...sent, id: randomUUID(), error_stack: 'x'.repeat(20_000) };
    const [first] = await ask('POST', '/spans', [padded]);
    const [second] = await ask('POST', '/spans', [padded]);
    expect({ ...second, created_at: '' }).to.deep.equal({ ...first, created_at: '' });
    expect(first.attributes).to.deep.include({ user: small.attributes.user, unknown_field: first.output_data });
    expect((await ask('POST', '/spans', [stored]))[0]).to.deep.include({
      attributes: stored.attributes,
      tags: stored.tags,
    });
    const found = await ask('GET', `/spans?tags.user=${encodeURIComponent(small.tags.user)}&fields=id&limit=10`);
    expect(found.map(({ id }: { id: string }) => id)).to.have.members([sent.id, padded.id]);
    expect(await ask('GET', `/spans?q=anna`)).to.deep.equal([]);
  });

  it('masks posted traces, sessions, scores and feedback', async () => {
    const { id, trace_id } = span();
    const session_id = randomUUID();
    await ask('POST', '/spans', [
      span({ id, trace_id, signals: { why: { value: `${SAID}. `.repeat(10), type: 'categorical' } } }),
    ]);
    const [trace] = await ask('POST', '/traces', [
      { id: trace_id, session_id, name: SAID, started_at: AT, attributes: { user: MAIL }, tags: { user: MAIL } },
    ]);
    const [session] = await ask('POST', '/sessions', [
      { id: session_id, project_id: server.projectId, name: SAID, attributes: { user: MAIL } },
    ]);
    const entity = { entity_type: 'span', entity_id: id, name: 'helpful', value: true };
    await ask('POST', '/scores', [{ ...entity, comment: SAID, metadata: { user: MAIL } }]);
    await ask('POST', '/v1/span_annotations?sync=true', {
      data: [
        {
          span_id: id.replaceAll('-', '').slice(0, 16),
          name: 'a',
          annotator_kind: 'LLM',
          result: { score: 1, explanation: SAID },
        },
      ],
    });
    await promptApi(server).ensure('support', { content: 'Help.' });
    const feedback = `/v1/prompts/support/completions/${id}/feedback`;
    const given = await ask('POST', feedback, {
      thumbs_up: false,
      reason: SAID,
      expected_output: SAID,
      metadata: { user: MAIL },
    });
    expect(given.reason).to.match(MASKED);
    const scores = await ask('GET', '/scores');
    expect(scores).to.have.length(3);
    // A text of one line is a category, but only one that its definition lists is known to be harmless.
    const of = (name: string, value: string) => ({ ...entity, name, value });
    await ask(
      'PUT',
      `/projects/${server.projectId}/score-definitions/owner`,
      { kind: 'categorical', categories: [MAIL] },
      201,
    );
    const lines = await ask('POST', '/scores', [of('who', `${MAIL} liked it`), of('owner', MAIL)]);
    expect(lines[0]).to.include({ kind: 'categorical' });
    expect(lines[0].value).to.match(/^\[mail:[0-9a-f]{16}\] liked it$/);
    expect(lines[1].value).to.equal(MAIL);
    expect([trace.name, session.name]).to.satisfy((names: string[]) => names.every((name) => MASKED.test(name)));
    expectNone(trace, session, given, scores);
  });

  it('masks spans of OpenTelemetry, over HTTP and gRPC', async () => {
    const otlp = (n: number) =>
      otlpSpan({
        spanId: spanId(n),
        attributes: attributes({ 'gen_ai.prompt': SAID, 'user.email': MAIL, secret: 'x' }),
      });
    const body = Buffer.from(toProtobuf(request([otlp(1)])));
    const headers = { 'content-type': 'application/x-protobuf' };
    expect((await server.request('POST', '/v1/traces', { body, headers })).status).to.equal(200);
    const exporter = new GrpcExporter(server);
    expect((await exporter.send(message(otlp(2)))).code).to.equal(0);
    exporter.close();
    const spans = await ask('GET', `/spans?trace_id=${TRACE_UUID}`);
    expect(spans).to.have.length(2);
    for (const { attributes: found } of spans) {
      expect(found['user.email']).to.match(/^\[mail:/);
      expect(found.secret).to.equal(null);
    }
    expectNone(spans);
  });

  it('masks spans in parts of Langfuse and LangSmith, each part once', async () => {
    const trace = randomUUID();
    const event = (type: string, ms: number, more: object) => ({
      ...{ id: randomUUID(), type, timestamp: at(ms) },
      body: { id: 'call', traceId: trace, ...more },
    });
    const events = [
      event('generation-create', 0, { name: 'call', startTime: at(0), input: SAID, metadata: { user: MAIL } }),
      event('generation-update', 10, { endTime: at(10), output: SAID }),
    ];
    const created = async () => {
      for (const each of events) expect((await langfuse(server).send([each])).json.errors).to.deep.equal([]);
      return (await ask('GET', '/spans?limit=1'))[0];
    };
    const once = await created();
    expect([once.input_data, once.output_data]).to.satisfy((texts: string[]) =>
      texts.every((text) => MASKED.test(text)),
    );
    expect((await created()).created_at, 'sent again, nothing is new').to.equal(once.created_at);
    const run = randomUUID();
    const order = { trace_id: run, dotted_order: dotted([0, run]) };
    const client = langsmith(server);
    await client.send([{ id: run, ...order, name: 'run', run_type: 'chain', start_time: at(0), inputs: { q: SAID } }]);
    await client.send([], [{ id: run, ...order, end_time: at(5), outputs: { a: SAID, secret: 'x' } }]);
    const stored = await spanOf(run);
    expect(JSON.parse(stored.output_data)).to.include({ secret: null });
    expect(stored.input_data).to.contain('[phone]');
    expectNone(once, stored);
  });

  it('masks completions that are logged, in a span of their own and in one that is there', async () => {
    await promptApi(server).ensure('support', { content: 'Help.' });
    const log = `/projects/${server.projectId}/prompts/support/completions`;
    const [there] = await ask('POST', '/spans', [span()]);
    const said = {
      messages: [{ role: 'user', content: SAID }],
      output_text: SAID,
      metadata: { user: MAIL },
      model_id: 'gpt-4o',
    };
    for (const span_id of [there.id, null]) {
      const { id } = await ask('POST', log, { ...said, span_id });
      const stored = await spanOf(id);
      expect(stored.output_data).to.match(MASKED);
      expect(stored).to.include({ model: 'gpt-4o', prompt_slug: 'support' });
      expectNone(stored);
    }
  });

  it('masks the reasons of evaluations that ran elsewhere, recorded or imported', async () => {
    const scored = { evaluation_type: 'scored', score_min: 0, score_max: 1, pass_threshold: 0.5 };
    const judges = `/projects/${server.projectId}/judges`;
    const judge = { ...scored, name: 'j', prompt: 'Good?', enabled: false, criteria: [{ key: 'tone' }] };
    const { id: judge_id } = await ask('POST', judges, judge, 201);
    const evaluation = { span_id: randomUUID(), score: 1, evaluation_reason: SAID };
    const criteria_scores = { tone: { score: 1, reason: SAID } };
    const made = await ask('POST', `${judges}/${judge_id}/evaluations`, { ...evaluation, criteria_scores }, 201);
    expect([made.evaluation_reason, made.criteria_scores.tone.reason]).to.satisfy((texts: string[]) =>
      texts.every((text) => MASKED.test(text)),
    );
    const part = `/projects/${server.projectId}/export/evaluations`;
    const [exported] = (await server.request('GET', part)).json.records;
    const record = { ...exported, id: randomUUID(), span_id: randomUUID(), evaluation_reason: SAID, criteria_scores };
    await ask('POST', part.replace('export', 'import'), [record]);
    const { evaluations } = await ask('GET', `${judges}/${judge_id}/evaluations`);
    expect(evaluations).to.have.length(2);
    expectNone(evaluations);
  });

  it('masks what is imported', async () => {
    const { id, trace_id } = span();
    const record = { ...span({ id, trace_id, input_data: SAID, attributes: { user: MAIL } }), cost_calculated: false };
    const times = { created_at: AT, written_at: AT };
    const call = { provider: null, model: null, input_tokens: 7, output_tokens: null, cache_read_tokens: null };
    const rest = { cache_write_tokens: null, prompt_slug: null, prompt_version: null, prompt_version_id: null };
    await ask('POST', `/projects/${server.projectId}/import/spans`, [{ ...record, ...times, ...call, ...rest }]);
    const stored = await spanOf(id);
    expect(stored.input_data).to.match(MASKED);
    expect(stored.input_tokens).to.equal(7);
    expectNone(stored);
  });

  it('holds from when rules are set, of their project alone, and leaves what is stored', async () => {
    const version = Number((await ask('GET', path)).version);
    const [before] = await ask('POST', '/spans', [span({ output_data: SAID })]);
    const next = await set([{ type: 'phone' }]);
    expect(next).to.deep.include({
      version: version + 1,
      rules: [{ ...next.rules[0], type: 'phone', name: 'phone', action: 'replace' }],
    });
    expect((await set([{ type: 'phone' }])).version, 'the same again').to.equal(version + 1);
    const [after] = await ask('POST', '/spans', [span({ output_data: SAID })]);
    expect(after.output_data).to.equal(`write to ${MAIL} or call [phone]`);
    expect((await spanOf(before.id)).output_data).to.equal(before.output_data);
    const { key } = secondProject(server);
    const [elsewhere] = (await server.request('POST', '/spans', { key, body: [span({ output_data: SAID })] })).json;
    expect(elsewhere.output_data).to.equal(SAID);
    await set([]);
    expect((await ask('POST', '/spans', [span({ output_data: SAID })]))[0].output_data).to.equal(SAID);
    // The same key: hashes of later rules join those of earlier ones.
    await set(RULES);
    expect((await ask('POST', '/spans', [span({ output_data: SAID })]))[0].output_data).to.equal(before.output_data);
  });

  it('tests rules on stored spans, and changes nothing', async () => {
    const { key, projectId } = secondProject(server);
    const spans = Array.from({ length: 3 }, (_, n) =>
      span({
        name: `n${n}`,
        output_data: n === 0 ? 'none' : SAID,
        attributes: { user: MAIL },
        kind: n === 2 ? 'tool' : 'llm',
      }),
    );
    await server.request('POST', '/spans', { key, body: spans });
    const test = async (body: object, with_key = key) => {
      const answer = await server.request('POST', `/projects/${projectId}/masking:test`, { key: with_key, body });
      if (answer.status === 200) document.check('POST', `/projects/${projectId}/masking:test`, answer);
      return answer;
    };
    const { json } = await test({ rules: RULES });
    expect(json).to.deep.include({ spans: 3, changed: 3, complete: true });
    expect(json.rules.map(({ spans: of, values }: Record<string, number>) => [of, values])).to.deep.equal([
      [3, 5],
      [2, 2],
      [0, 0],
    ]);
    const excerpt = json.rules[1].excerpts[0];
    expect(excerpt).to.include({ field: 'output_data', before: ' or call +1 415 555 2671', after: ' or call [phone]' });
    expect(json.rules[0].excerpts.map(({ field }: { field: string }) => field)).to.include('attributes.user');
    expect((await test({ rules: RULES, query: 'span_kind=tool', limit: 1 })).json).to.deep.include({
      spans: 1,
      changed: 1,
    });
    expect((await test({})).json, 'the project has none').to.deep.include({ spans: 3, changed: 0, rules: [] });
    expect((await server.request('GET', `/spans?q=anna`, { key })).json).to.have.length(2);
    const keys = `/projects/${projectId}/api-keys`;
    const body = { name: 'settings', scopes: ['admin'] };
    const admin = (await server.request('POST', keys, { key, body })).json.key;
    expect((await test({ rules: RULES }, admin)).status, 'may not read spans').to.equal(403);
  });

  it('refuses rules that are none, all together', async () => {
    const rules = [
      { type: 'expression', expression: '(' },
      { type: 'path', path: 'x' },
      { type: 'email', name: 'Big' },
    ];
    const { status, json } = await server.request('PUT', path, { body: { rules: rules.slice(0, 2) } });
    expect([status, json.type]).to.deep.equal([422, 'urn:spanhouse:problem:invalid']);
    expect(json.errors.map(({ pointer }: { pointer: string }) => pointer)).to.deep.equal([
      '/rules/0/expression',
      '/rules/1/path',
    ]);
    for (const body of [
      { rules: rules.slice(2) },
      { rules: Array.from({ length: 51 }, (_, n) => ({ type: 'email', name: `e${n}` })) },
      { rules: [{ type: 'expression', expression: 'a'.repeat(501) }] },
      { rules: [{ type: 'passport' }] },
    ])
      expect((await server.request('PUT', path, { body })).status).to.equal(422);
    expect((await server.request('POST', `${path}:test`, { body: { rules } })).status).to.equal(422);
  });
});
