import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { ApiDocument } from '../harness/api-document.js';
import type { TestServer } from '../harness/server.js';
import { sharedServer } from '../harness/shared-server.js';
import { promptApi, secondProject } from './prompt-api.js';

/** As the Python SDK sends it. */
const ANY_PROJECT = '/projects/%7Bproject_id%7D/prompts/support/completions';
const messages = [{ role: 'user', content: 'Where is it?' }];

describe('completions that clients log', () => {
  let server: TestServer;
  let document: ApiDocument;
  let version: { id: string; prompt_id: string };
  before(async () => {
    server = await sharedServer();
    document = await ApiDocument.of(server);
    version = (await promptApi(server).ensure('support', { content: 'Help.' })).json;
    version = { ...version, prompt_id: (await promptApi(server).get('support')).json.prompt_id };
  });
  after(() => server?.dispose());

  const said = (change: object = {}) => ({
    ...{ prompt_id: version.prompt_id, prompt_version_id: version.id, model_id: 'gpt-4o-mini', messages },
    ...{ output_text: 'In the yard.', metadata: { a: 1 }, duration_ms: 250, has_error: false },
    ...{ prompt_tokens: 12, completion_tokens: 9, total_tokens: 21 },
    ...change,
  });
  async function log(body: object, path = ANY_PROJECT) {
    const answer = await server.request('POST', path, { body });
    expect(answer.status, answer.text).to.equal(200);
    document.check('POST', `/projects/${server.projectId}/prompts/support/completions`, answer);
    return answer.json;
  }
  const spanOf = async (id: string) => (await server.request('GET', `/spans/${id}`)).json;
  const listed = async (): Promise<any[]> =>
    (await server.request('GET', `/projects/${server.projectId}/prompts/support/completions`)).json.completions;

  it('become spans of the prompt, with tokens, cost and texts, that can be given feedback', async () => {
    const record = await log(said());
    expect(record).to.deep.include({ ...said(), project_id: server.projectId, prompt_slug: 'support', span_id: null });
    const span = await spanOf(record.id);
    expect(span).to.include({ kind: 'llm', status: 'ok', output_data: 'In the yard.', duration_ms: 250 });
    expect(span).to.include({ prompt_slug: 'support', prompt_version: 1, model: 'gpt-4o-mini', input_tokens: 12 });
    expect(JSON.parse(span.input_data)).to.deep.equal(messages);
    expect(span.cost).to.be.closeTo((12 * 0.15 + 9 * 0.6) / 1e6, 1e-12);
    expect(record).to.include({ cost: span.cost, created_at: span.created_at });
    expect((await listed()).map(({ id }) => id)).to.deep.equal([record.id]);
    const path = `/v1/prompts/support/completions/${record.id}/feedback`;
    expect((await server.request('POST', path, { body: { thumbs_up: true } })).status).to.equal(200);
    expect((await listed())[0].thumbs_up).to.equal(1);
    const again = await log(said(), `/projects/${server.projectId}/prompts/support/completions`);
    expect(again.id).to.not.equal(record.id);
  });

  it('complete the span that they name, and leave the rest of it as it is', async () => {
    const span = { id: randomUUID(), trace_id: randomUUID(), name: 'ask', started_at: '2026-01-31T10:00:00Z' };
    const sent = {
      ...span,
      kind: 'generic',
      tags: { a: 'b' },
      input_data: 'old',
      attributes: { provider: 'openai', x: 1 },
    };
    await server.request('POST', '/spans', { body: [sent] });
    const body = said({ span_id: span.id, has_error: true, error_message: 'too slow', cost: 0.5 });
    expect(await log(body)).to.include({ id: span.id, trace_id: span.trace_id, cost: 0.5, has_error: true });
    await log(body);
    const { json } = await server.request('GET', `/spans?id=${span.id}`);
    expect(json).to.have.length(1);
    expect(json[0]).to.deep.include({ kind: 'llm', name: 'ask', tags: { a: 'b' }, status: 'error', cost: 0.5 });
    expect(json[0]).to.deep.include({ error_message: 'too slow', input_data: JSON.stringify(messages) });
    expect(json[0].attributes).to.include({ x: 1, provider: 'openai', prompt_slug: 'support', totalTokens: 21 });
    const trace = (await server.request('GET', `/traces/${span.trace_id}`)).json;
    expect(trace).to.include({ span_count: 1, cost: 0.5, has_error: true });
    expect((await listed()).filter(({ id }) => id === span.id)).to.have.length(1);
  });

  it('get a span of their own while the one that they name is not there, the same one on a retry', async () => {
    const span_id = randomUUID();
    const first = await log(said({ span_id }));
    expect(first).to.include({ span_id }).and.not.include({ id: span_id });
    const late = { id: span_id, trace_id: randomUUID(), name: 'late', started_at: '2026-01-31T10:00:00Z' };
    await server.request('POST', '/spans', { body: [late] });
    expect(await log(said({ span_id, output_text: 'Here.' }))).to.include({ id: first.id, trace_id: first.trace_id });
    expect(await spanOf(first.id)).to.include({ output_data: 'Here.' });
    expect((await spanOf(span_id)).kind).to.equal('generic');
  });

  it('are completed while the client sends the span again: neither write is lost in between', async () => {
    const span = { id: randomUUID(), trace_id: randomUUID(), name: 'ask', started_at: '2026-01-31T10:00:00Z' };
    await server.request('POST', '/spans', { body: [span] });
    for (let round = 0; round < 5; round += 1) {
      const tags = { round: String(round) };
      const [, logged] = await Promise.all([
        server.request('POST', '/spans', { body: [{ ...span, tags }] }),
        server.request('POST', ANY_PROJECT, { body: said({ span_id: span.id }) }),
      ]);
      expect(logged.status, logged.text).to.equal(200);
      expect((await spanOf(span.id)).tags).to.deep.equal(tags);
    }
  });

  it('are refused with every reason', async () => {
    const issues = async (body: unknown, path = ANY_PROJECT) => {
      const { status, json } = await server.request('POST', path, { body });
      return [status, ...(json.errors ?? []).map(({ pointer }: { pointer: string }) => pointer).sort()];
    };
    const wrong = { prompt_id: randomUUID(), prompt_version_id: randomUUID(), prompt_tokens: -1, messages: 'hi' };
    expect(await issues(said(wrong))).to.deep.equal([
      ...[422, '/messages', '/prompt_id', '/prompt_tokens', '/prompt_version_id'],
    ]);
    expect(await issues(said({ metadata: { x: 'x'.repeat(300_000) } }))).to.deep.equal([422, '/metadata']);
    expect(await issues([])).to.deep.equal([422, '']);
    expect(await issues(said(), ANY_PROJECT.replace('support', 'nothing'))).to.deep.equal([404]);
    const other = secondProject(server);
    expect(await issues(said(), `/projects/${other.projectId}/prompts/support/completions`)).to.deep.equal([403]);
    const foreign = await server.request('POST', ANY_PROJECT, { body: said(), key: other.key });
    expect(foreign.status).to.equal(404);
    const list = await server.request('GET', ANY_PROJECT);
    expect(list.status).to.equal(403);
  });
});
