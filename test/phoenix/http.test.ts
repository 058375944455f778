import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { ApiDocument } from '../harness/api-document.js';
import { makeProject, type MadeProject } from '../harness/projects.js';
import type { TestServer } from '../harness/server.js';
import { sharedServer } from '../harness/shared-server.js';
import { formData, type FormPart } from '../langsmith/langsmith-client.js';

const BASE = '/phoenix/v1';
const TIMES = { start_time: '2026-08-01T12:00:00+00:00', end_time: '2026-08-01T12:00:01.5+00:00' };

describe('calls of Phoenix', function () {
  this.timeout(120_000);
  let server: TestServer;
  let other: MadeProject;
  let document: ApiDocument;
  before(async () => {
    server = await sharedServer();
    other = makeProject(server.dataDir);
    document = await ApiDocument.of(server);
  });
  after(() => server.dispose());

  /** Sends a request, and checks the answer by the document. */
  async function call(method: string, path: string, body?: unknown, key = server.key): Promise<any> {
    const response = await server.request(method, `${BASE}${path}`, { key, ...(body !== undefined && { body }) });
    document.check(method, `${BASE}${path}`.split('?')[0] as string, response);
    return response;
  }
  async function data(method: string, path: string, body?: unknown): Promise<any> {
    const { status, json, text } = await call(method, path, body);
    expect(status, text).to.equal(200);
    return json.data;
  }
  const upload = (name: string, inputs: readonly object[], more: object = {}) =>
    data('POST', '/datasets/upload?sync=true', { action: 'update', name, inputs, ...more });
  const examplesOf = async (id: string, query = '') => (await data('GET', `/datasets/${id}/examples${query}`)).examples;
  const form = (...parts: readonly FormPart[]) => {
    const { bytes, type } = formData(parts);
    const headers = { 'content-type': type };
    return server.request('POST', `${BASE}/datasets/upload?sync=true`, { headers, body: bytes });
  };

  it('say their version to anyone', async () => {
    const { status, text } = await server.request('GET', '/phoenix/arize_phoenix_version', { key: null });
    expect([status, text]).to.deep.equal([200, '20.8.0']);
  });

  it('make versions of datasets: what is sent again is the same, and stays the same row', async () => {
    const parts = { outputs: [{ a: 'A' }, null], splits: ['train', ['test', null]], example_ids: ['first', null] };
    const made = await upload('one', [{ q: 'a' }, { q: 'b' }], parts);
    expect(made).to.include({ num_created_examples: 2, num_updated_examples: 0, num_deleted_examples: 0 });
    const again = await upload('one', [{ q: 'a' }, { q: 'b' }], parts);
    expect(again).to.deep.equal({ ...made, num_created_examples: 0 });
    const examples = await examplesOf(made.dataset_id);
    expect(examples[0]).to.deep.include({ id: 'first', input: { q: 'a' }, output: { a: 'A' }, metadata: {} });
    expect(await examplesOf(made.dataset_id, '?split=test')).to.have.length(1);
    const ids = examples.map(({ id }: any) => id);
    const changed = await upload('one', [{ q: 'a' }, { q: 'changed' }], {
      example_ids: ids,
      span_ids: ['00f067aa0ba902b7', null],
    });
    expect(changed).to.include({ num_updated_examples: 2, num_created_examples: 0 });
    const [first] = await examplesOf(made.dataset_id);
    expect(first.source.span_id).to.equal('00f067aa0ba902b7');
    await upload('one', [{ q: 'c' }], { action: 'append' });
    expect(await examplesOf(made.dataset_id)).to.have.length(3);
    expect(await examplesOf(made.dataset_id, `?version_id=${made.version_id}`)).to.have.length(2);
    expect(await data('GET', `/datasets/${made.dataset_id}/versions?limit=2`)).to.have.length(2);
    const [found] = await data('GET', `/datasets?name=one`);
    expect(found).to.include({ id: made.dataset_id, example_count: 3 });
    const taken = await call('POST', '/datasets/upload', { action: 'create', name: 'one', inputs: [{}] });
    expect(taken.status).to.equal(409);
  });

  it('take tables, whose columns have roles, beside examples and rows that were made here', async () => {
    const table = Buffer.from('q,a,n,id\nx,X,1,r1\ny,Y,2,r2\n');
    const keys: FormPart[] = [
      ...(['input_keys[]', 'output_keys[]', 'metadata_keys[]'] as const).map((name, index): FormPart => [
        name,
        Buffer.from(['q', 'a', 'n'][index] as string),
      ]),
      ['example_id_key', Buffer.from('id')],
      ['file', gzipSync(table), 'text/csv'],
    ];
    const named = (action: string, name: string): FormPart[] => [
      ['action', Buffer.from(action)],
      ['name', Buffer.from(name)],
    ];
    const { json, status, text } = await form(...named('update', 'two'), ...keys);
    expect(status, text).to.equal(200);
    const id = json.data.dataset_id;
    expect((await examplesOf(id))[1]).to.deep.include({ id: 'r2', input: { q: 'y' }, output: { a: 'Y' } });
    await upload('two', [{ q: 'z' }], { action: 'append', metadata: [{ n: 3 }] });
    expect((await examplesOf(id)).map(({ input, metadata }: any) => [input, metadata])).to.deep.equal([
      [{ q: 'x' }, { n: '1' }],
      [{ q: 'y' }, { n: '2' }],
      [{ q: 'z' }, { n: 3 }],
    ]);
    await server.request('POST', '/v1/datasets', { body: { name: 'own' } });
    await server.request('POST', '/v1/datasets/own/data', { body: { data: [{ q: 'a', expected: 'A' }] } });
    const { dataset_id: own } = await upload('own', [{ q: 'b' }], { action: 'append' });
    expect((await examplesOf(own)).map(({ input, output }: any) => [input, output])).to.deep.equal([
      [{ q: 'a' }, { expected: 'A' }],
      [{ q: 'b' }, {}],
    ]);
    expect((await form(...named('update', 'three'))).status).to.equal(422);
    const broken: FormPart = ['file', Buffer.from([0x1f, 0x8b, 1, 2]), 'text/csv'];
    expect((await form(...named('update', 'three'), broken)).status).to.equal(400);
  });

  it('give back outputs as they were sent, whatever they are', async () => {
    const outputs = [
      'text',
      '{"a": 1}',
      '[1]',
      '5',
      '"x"',
      'null',
      '',
      ' 5\n',
      '5\n',
      { b: [1, null] },
      [],
      5,
      1.5,
      true,
      null,
    ];
    const inputs = outputs.map((_output, index) => ({ index }));
    const { dataset_id, version_id } = await upload('outputs', inputs);
    const examples = await examplesOf(dataset_id);
    const { id } = await data('POST', `/datasets/${dataset_id}/experiments`, { name: 'any', version_id });
    for (const { node_id, input } of examples) {
      const run = { dataset_example_id: node_id, output: outputs[input.index], repetition_number: 1, ...TIMES };
      await data('POST', `/experiments/${id}/runs`, run);
    }
    const index = new Map(examples.map(({ node_id, input }: any) => [node_id, input.index]));
    const runs: any[] = await data('GET', `/experiments/${id}/runs?limit=100`);
    expect(runs).to.have.length(outputs.length);
    for (const { dataset_example_id, output } of runs) {
      const sent = outputs[index.get(dataset_example_id) as number];
      // An empty text and nothing are stored alike.
      expect(output).to.deep.equal(sent === '' ? null : sent);
    }
  });

  it('run experiments: what failed or is missing is told, page by page, and scores are those of results', async () => {
    const { dataset_id } = await upload('three', [{ q: 'a' }, { q: 'b' }, { q: 'c' }]);
    const body = { name: 'trial', repetitions: 2, metadata: { model: 'm' } };
    const { id, project_name } = await data('POST', `/datasets/${dataset_id}/experiments`, body);
    expect(project_name).to.equal('trial');
    const examples: any[] = await examplesOf(dataset_id);
    const run = async (example: any, repetition: number, more: object = {}) => {
      const sent = { dataset_example_id: example.node_id, output: 'x', repetition_number: repetition, ...TIMES };
      return data('POST', `/experiments/${id}/runs`, { ...sent, ...more });
    };
    const trace_id = '4bf92f3577b34da6a3ce929d0e0e4736';
    const { id: first } = await run(examples[0], 1, { trace_id });
    await run(examples[0], 2);
    await run(examples[1], 1, { error: 'broken', output: null });
    expect((await run(examples[0], 1, { trace_id })).id).to.equal(first);
    const { example_count, ...counts } = await data('GET', `/experiments/${id}`);
    expect([
      example_count,
      counts.successful_run_count,
      counts.failed_run_count,
      counts.missing_run_count,
    ]).to.deep.equal([3, 2, 1, 3]);
    const page = (await call('GET', `/experiments/${id}/incomplete-runs?limit=1`)).json;
    expect(page.data.map((each: any) => [each.dataset_example.input, each.repetition_numbers])).to.deep.equal([
      [{ q: 'b' }, [1, 2]],
    ]);
    const next = (await call('GET', `/experiments/${id}/incomplete-runs?limit=1&cursor=${page.next_cursor}`)).json;
    expect(next.data[0].dataset_example.input).to.deep.equal({ q: 'c' });
    expect(next.next_cursor).to.equal(null);
    const kinds = { annotator_kind: 'CODE', ...TIMES };
    await data('POST', '/experiment_evaluations', {
      experiment_run_id: first,
      name: 'right',
      result: { score: 1, label: 'True' },
      ...kinds,
    });
    await data('POST', '/experiment_evaluations', {
      experiment_run_id: first,
      name: 'tone',
      error: 'no answer',
      result: null,
      ...kinds,
    });
    const lacks = (
      await call('GET', `/experiments/${id}/incomplete-evaluations?evaluation_name=right&evaluation_name=tone`)
    ).json.data;
    expect(lacks.map((each: any) => each.evaluation_names)).to.deep.equal([['tone'], ['right', 'tone']]);
    const { json: lines } = await call('GET', `/experiments/${id}/json`);
    const [line] = lines.filter(({ trace_id: own }: any) => own === trace_id);
    expect(line.annotations.map(({ name, score, label }: any) => [name, score, label])).to.have.deep.members([
      ['right', 1, 'True'],
      ['tone error', null, 'no answer'],
    ]);
    const unknown = { dataset_example_id: 'x', output: 1, repetition_number: 1, ...TIMES };
    expect((await call('POST', `/experiments/${id}/runs`, unknown)).status).to.equal(422);
    const third = { ...unknown, dataset_example_id: examples[0].id, repetition_number: 3 };
    expect((await call('POST', `/experiments/${id}/runs`, third)).json.errors[0].pointer).to.equal(
      '/repetition_number',
    );
    const noTime = { ...unknown, dataset_example_id: examples[0].id, start_time: 'soon' };
    expect((await call('POST', `/experiments/${id}/runs`, noTime)).status).to.equal(422);
    expect((await data('GET', `/datasets/${dataset_id}/experiments`)).map(({ name }: any) => name)).to.deep.equal([
      'trial',
    ]);
    for (const path of [`/experiments/${id}`, `/experiments/${id}/json`, `/datasets/${dataset_id}/examples`])
      expect((await call('GET', path, undefined, other.key)).status, path).to.equal(404);
    expect((await call('DELETE', `/experiments/${id}?delete_project=false`)).status).to.equal(204);
    expect((await call('DELETE', `/datasets/${dataset_id}`)).status).to.equal(204);
  });

  it('run experiments on some splits of a dataset, which alone are counted and missing', async () => {
    const inputs = [{ q: 'a' }, { q: 'b' }, { q: 'c' }];
    const { dataset_id } = await upload('split', inputs, { splits: ['train', ['test', 'hard'], null] });
    const body = { name: 'on tests', splits: ['test', 'other'], repetitions: 2 };
    const { id, metadata } = await data('POST', `/datasets/${dataset_id}/experiments`, body);
    expect(metadata).to.deep.equal({});
    const left = async () => (await data('GET', `/experiments/${id}/incomplete-runs`)).map((each: any) => each);
    expect((await left()).map((each: any) => [each.dataset_example.input, each.repetition_numbers])).to.deep.equal([
      [{ q: 'b' }, [1, 2]],
    ]);
    const [, example] = await examplesOf(dataset_id);
    const run = { dataset_example_id: example.node_id, output: 'x', repetition_number: 1, ...TIMES };
    await data('POST', `/experiments/${id}/runs`, run);
    const counts = await data('GET', `/experiments/${id}`);
    expect(counts).to.include({ example_count: 1, successful_run_count: 1, missing_run_count: 1 });
    await data('POST', `/experiments/${id}/runs`, { ...run, repetition_number: 2 });
    expect(await left()).to.deep.equal([]);
  });

  it('keep versions of prompts as they were sent, and read those that were made elsewhere', async () => {
    const version = {
      ...{ model_provider: 'ANTHROPIC', model_name: 'claude-x', template_type: 'CHAT', template_format: 'MUSTACHE' },
      description: 'first',
      template: {
        type: 'chat',
        messages: [
          { role: 'system', content: 'Answer {{topic}}.' },
          { role: 'user', content: [{ type: 'text', text: '{{question}}' }] },
          { role: 'tool', content: [{ type: 'tool_result', tool_call_id: '1', tool_result: { a: [1] } }] },
        ],
      },
      invocation_parameters: { type: 'anthropic', anthropic: { max_tokens: 7 } },
      tools: { type: 'tools', tools: [{ type: 'raw', raw: { a: 1 } }] },
    };
    const prompt = { name: 'asked-here', description: 'Asks.', metadata: { team: 'a' } };
    const made = await data('POST', '/prompts', { prompt, version });
    expect(made).to.deep.equal({ ...version, id: made.id });
    expect(await data('POST', '/prompts', { prompt, version })).to.deep.equal(made);
    const second = { ...version, model_name: 'claude-y' };
    const newer = await data('POST', '/prompts', { prompt: { name: prompt.name }, version: second });
    expect(newer.id).to.not.equal(made.id);
    expect(await data('GET', '/prompts/asked-here/latest')).to.deep.equal(newer);
    expect(await data('GET', `/prompt_versions/${made.id}`)).to.deep.equal(made);
    const tagged = await call('POST', `/prompt_versions/${made.id}/tags`, { name: 'production', description: 'x' });
    expect(tagged.status).to.equal(204);
    expect(await data('GET', '/prompts/asked-here/tags/production')).to.deep.equal(made);
    expect((await data('GET', `/prompt_versions/${made.id}/tags`)).map(({ name }: any) => name)).to.deep.equal([
      'production',
    ]);
    const page = (await call('GET', '/prompts/asked-here/versions?limit=1')).json;
    const last = (await call('GET', `/prompts/asked-here/versions?cursor=${page.next_cursor}`)).json;
    expect([page.data, last.data, last.next_cursor]).to.deep.equal([[newer], [made], null]);
    // In the console, it is a chat version with its model.
    const { json: own } = await server.request('GET', '/v1/tasks/asked-here/prompt/latest');
    expect(own.messages[1]).to.deep.equal({ role: 'user', content: '{{question}}' });
    expect(own).to.deep.include({ model_id: 'anthropic/claude-y', metadata: { description: 'first' } });
    const place = { type: 'placeholder', name: 'history' };
    const bodies = [{ content: 'Say {{what}}.' }, { messages: [{ role: 'system', content: 'Be kind.' }, place] }];
    for (const [index, content] of bodies.entries()) {
      await server.request('POST', '/v1/tasks/made-here/prompt/versions/ensure', {
        body: { ...content, model_id: 'gpt-4o' },
      });
      const { template, model_provider, model_name } = await data('GET', '/prompts/made-here/latest');
      const user = { role: 'user', content: index === 0 ? 'Say {{what}}.' : '{{history}}' };
      expect(template.messages.at(-1)).to.deep.equal(user);
      expect([model_provider, model_name]).to.deep.equal(['OPENAI', 'gpt-4o']);
    }
    expect((await data('GET', '/prompts?limit=1'))[0]).to.include({ name: 'asked-here' });
    expect((await call('GET', '/prompts/missing/latest')).status).to.equal(404);
    expect((await call('GET', `/prompt_versions/${made.id}`, undefined, other.key)).status).to.equal(404);
    const text = { ...version, template_type: 'STR', template: { type: 'string', template: 'x' } };
    expect((await call('POST', '/prompts', { prompt, version: text })).status).to.equal(422);
    const role = { ...version, template: { type: 'chat', messages: [{ role: 'a b', content: 'x' }] } };
    const refused = await call('POST', '/prompts', { prompt, version: role });
    expect(refused.json.errors[0].pointer).to.match(/^\/version\/template\/messages\/0/);
    const latest = await call('POST', `/prompt_versions/${made.id}/tags`, { name: 'latest' });
    expect(latest.status).to.equal(409);
    // There is nothing of a prompt to change beside its versions. It goes with them.
    const patched = await server.request('PATCH', `${BASE}/prompts/asked-here`, { body: { description: 'x' } });
    expect(patched.status).to.equal(405);
    const remove = async (key?: string) => (await call('DELETE', '/prompts/asked-here', undefined, key)).status;
    expect([await remove(other.key), await remove(), await remove()]).to.deep.equal([404, 204, 404]);
    expect((await call('GET', `/prompt_versions/${made.id}`)).status).to.equal(404);
  });

  it('read sessions with their traces, page by page', async () => {
    const span = (n: number, session: string, more: object = {}) => ({
      ...{ id: `00f067aa-0ba9-02c${n}-0000-000000000000`, trace_id: `00000000-0000-0000-0000-0000000000c${n}` },
      ...{ name: 'turn', kind: 'llm', started_at: `2026-08-02T12:00:0${n}Z`, ended_at: `2026-08-02T12:00:0${n}.5Z` },
      ...{
        session_id: session,
        session_tags: { project: 'talk' },
        trace_tags: { project: 'talk' },
        tags: { project: 'talk' },
      },
      ...{ input_data: `question ${n}`, attributes: { model: 'gpt-4o', inputTokens: n, outputTokens: 1 }, ...more },
    });
    const [one, two] = ['00000000-0000-0000-0000-00000000aaa1', '00000000-0000-0000-0000-00000000aaa2'];
    await server.request('POST', '/spans', { body: [span(2, one), span(1, one)] });
    await server.request('POST', '/spans', { body: [span(3, two)] });
    const page = (await call('GET', '/projects/talk/sessions?limit=1')).json;
    expect(page.data).to.have.length(1);
    expect(page.data[0]).to.deep.include({
      ...{ id: one, session_id: one, project_id: 'talk', start_time: '2026-08-02T12:00:01.000000Z' },
      ...{ token_count_prompt: 3, token_count_completion: 2, token_count_total: 5 },
    });
    expect(page.data[0].traces.map(({ trace_id }: any) => trace_id.slice(-2))).to.deep.equal(['c1', 'c2']);
    const rest = (await call('GET', `/projects/talk/sessions?cursor=${page.next_cursor}`)).json;
    expect([rest.data.map(({ id }: any) => id), rest.next_cursor]).to.deep.equal([[two], null]);
    expect((await data('GET', '/projects/talk/sessions?order=desc'))[0].id).to.equal(two);
    expect(await data('GET', '/projects/none/sessions')).to.deep.equal([]);
    expect(await data('GET', `/sessions/${one}`)).to.deep.equal(page.data[0]);
    expect((await call('GET', '/sessions/unknown')).status).to.equal(404);
    expect((await call('GET', `/sessions/${one}`, undefined, other.key)).status).to.equal(404);
  });

  it('read annotations of traces and sessions by their names, and delete sessions with all that is in them', async () => {
    const traces = ['d0', 'd1', 'd2'].map((end) => `4bf92f3577b34da6a3ce929d0e0e47${end}`);
    const spans = traces.map((traceId, n) => ({
      ...{ traceId, spanId: `00f067aa0ba902d${n}`, name: 'turn', startTimeUnixNano: '1785758400000000000' },
      attributes: [{ key: 'session.id', value: { stringValue: `talk ${n}` } }],
    }));
    const body = { resourceSpans: [{ scopeSpans: [{ spans }] }] };
    expect((await server.request('POST', '/phoenix/v1/traces', { body })).status).to.equal(200);
    const said = { name: 'tone', annotator_kind: 'HUMAN', identifier: 'v1', result: { label: 'kind' } };
    await data('POST', '/session_annotations', { data: [{ ...said, session_id: 'talk 0' }] });
    await data('POST', '/trace_annotations', { data: [{ ...said, trace_id: traces[0] }] });
    const ofSessions = '/projects/any/session_annotations?session_ids=talk%200&session_ids=talk%201';
    const found = { ...said, result: { score: null, label: 'kind', explanation: null } };
    expect((await data('GET', ofSessions))[0]).to.deep.include({ ...found, session_id: 'talk 0' });
    expect(await data('GET', `${ofSessions}&identifier=v2`)).to.deep.equal([]);
    const ofTrace = `/projects/any/trace_annotations?trace_ids=${traces[0]?.toUpperCase()}`;
    expect((await data('GET', ofTrace))[0]).to.deep.include({ ...found, trace_id: traces[0] });
    expect((await call('GET', '/projects/any/session_annotations?identifier=v1')).status).to.equal(422);

    const get = (n: number) => call('GET', `/sessions/talk%20${n}`);
    const remove = async (key?: string) => (await call('DELETE', '/sessions/talk%200', undefined, key)).status;
    expect([await remove(other.key), await remove(), await remove()]).to.deep.equal([404, 204, 404]);
    expect([await data('GET', ofSessions), await data('GET', ofTrace)]).to.deep.equal([[], []]);
    expect((await get(0)).status).to.equal(404);
    const removeAll = async (session_identifiers: readonly string[], key?: string) =>
      (await call('POST', '/sessions/delete', { session_identifiers }, key)).status;
    expect(await removeAll(['talk 1'], other.key)).to.equal(204);
    expect((await get(1)).status).to.equal(200);
    expect(await removeAll(['talk 1', 'none', 'talk 1', 'talk 2'])).to.equal(204);
    expect([(await get(1)).status, (await get(2)).status]).to.deep.equal([404, 404]);
    expect((await server.request('GET', `/spans?trace_id=${traces[1]}`)).json).to.deep.equal([]);
    const tooMany = Array.from({ length: 101 }, (_, n) => `talk ${n}`);
    expect([await removeAll([]), await removeAll(tooMany)]).to.deep.equal([422, 422]);
  });

  it('read spans by the tag project, as a list and as a table, with their annotations', async () => {
    const spans = [1, 2, 3].map((n) => ({
      ...{ id: `00f067aa-0ba9-02b${n}-0000-000000000000`, trace_id: `00000000-0000-0000-0000-00000000000${n}` },
      ...{ name: `span ${n}`, kind: 'llm', started_at: `2026-08-01T12:00:0${n}Z`, input_data: `question ${n}` },
      ...{
        tags: { project: n === 3 ? 'market' : 'shop' },
        attributes: { model: 'gpt-4o', inputTokens: n, outputTokens: 1 },
      },
    }));
    expect((await server.request('POST', '/spans', { body: spans })).status).to.equal(200);
    const page = (await call('GET', '/projects/shop/spans?limit=1')).json;
    expect(page.data[0]).to.deep.include({ name: 'span 2', span_kind: 'LLM', parent_id: null });
    expect(page.data[0].attributes).to.include({ 'input.value': 'question 2', 'llm.token_count.prompt': 2 });
    // What comes in meanwhile moves no span to another page.
    const late = { ...spans[1], id: '00f067aa-0ba9-02b9-0000-000000000000', started_at: '2026-08-01T12:00:09Z' };
    await server.request('POST', '/spans', { body: [late] });
    const next = (await call('GET', `/projects/shop/spans?limit=1&cursor=${page.next_cursor}`)).json;
    expect(next.data[0].name).to.equal('span 1');
    expect((await call('GET', `/projects/shop/spans?cursor=${next.next_cursor}`)).json).to.deep.equal({
      ...{ data: [], next_cursor: null },
    });
    for (const odd of ['1', `1_${'a'.repeat(36)}_${'b'.repeat(36)}`])
      expect((await call('GET', `/projects/shop/spans?cursor=${odd}`)).status).to.equal(422);
    expect((await server.request('DELETE', `/spans/${late.id}`)).status).to.be.lessThan(300);
    const found = await data('GET', '/projects/shop/spans?span_id=00f067aa0ba902b1&span_id=00f067aa0ba902b3');
    expect(found.map(({ name }: any) => name)).to.deep.equal(['span 1']);
    expect(await data('GET', '/projects/shop/spans?name=span%201&name=span%202&status_code=OK')).to.have.length(2);
    expect((await call('GET', '/projects/shop/spans?attribute=x')).status).to.equal(422);
    const annotation = {
      name: 'correct',
      annotator_kind: 'LLM',
      result: { score: 1, label: 'yes' },
      span_id: '00f067aa0ba902b1',
    };
    await data('POST', '/span_annotations?sync=true', { data: [annotation] });
    const path = '/projects/shop/span_annotations?span_ids=00f067aa0ba902b1';
    expect((await data('GET', path))[0]).to.deep.include({
      ...annotation,
      result: { score: 1, label: 'yes', explanation: null },
    });
    expect(await data('GET', `${path}&exclude_annotation_names=correct`)).to.deep.equal([]);
    const table = await call('POST', '/spans?project_name=shop', { queries: [{}], limit: 1_000 });
    expect(table.status).to.equal(200);
    const [, json = ''] = /\r\n\r\n(.*)\r\n--/s.exec(table.text) ?? [];
    const { data: rows, schema } = JSON.parse(json);
    expect(rows.map((row: any) => row['0_context.span_id'])).to.deep.equal(['00f067aa0ba902b2', '00f067aa0ba902b1']);
    expect(schema.primaryKey).to.deep.equal(['0_context.span_id']);
    const filtered = await call('POST', '/spans', { queries: [{ filter: { condition: 'x' } }] });
    expect(filtered.json.errors[0].pointer).to.equal('/queries/0/filter');
  });
});
