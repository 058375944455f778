import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { ApiDocument } from '../harness/api-document.js';
import type { TestServer } from '../harness/server.js';
import { sharedServer } from '../harness/shared-server.js';

const AT = '2026-01-15T10:00:00.000000Z';
const CALL = { provider: 'openai', model: 'own-model', inputTokens: 1_000_000, outputTokens: 0 };

describe('a key that may only send', () => {
  const trace = randomUUID();
  const session = randomUUID();
  let server: TestServer;
  let document: ApiDocument;
  let key: string;
  let version: { id: string };

  before(async () => {
    server = await sharedServer();
    document = await ApiDocument.of(server);
    const keys = `/projects/${server.projectId}/api-keys`;
    key = (await server.request('POST', keys, { body: { name: 'exporter', access: 'ingest' } })).json.key;
    const price = { input_per_million: 3, output_per_million: 4 };
    await server.request('PUT', `/projects/${server.projectId}/model-prices/openai/own-model`, { body: price });
    const path = '/v1/tasks/secret-slug/prompt/versions/ensure';
    version = (await server.request('POST', path, { body: { content: 'You are the secret prompt.' } })).json;
    const stored = await server.request('POST', '/spans', {
      body: [
        {
          trace_id: trace,
          session_id: session,
          name: 'secret root',
          kind: 'llm',
          status: 'error',
          started_at: AT,
          input_data: 'secret question',
          output_data: 'secret answer',
          trace_tags: { who: 'secret tag' },
          session_tags: { who: 'secret tag' },
          attributes: CALL,
        },
      ],
    });
    expect([stored.status, stored.json[0].cost]).to.deep.equal([200, 3]);
  });
  after(() => server.dispose());

  it('gets back of traces only what it sent', async () => {
    const sent = { id: trace, session_id: session, name: 'mine', started_at: AT, tags: { mine: 'yes' } };
    const posted = await server.request('POST', '/traces', { key, body: [sent] });
    expect(posted.status, posted.text).to.equal(200);
    expect(posted.json).to.deep.equal([{ ...sent, project_id: server.projectId, attributes: {} }]);
    document.check('POST', '/traces', posted);
    const full = await server.request('POST', '/traces', { body: [sent] });
    expect(full.json[0]).to.include({ span_count: 1, root_span_input: 'secret question', cost: 3 });
  });

  it('gets back of sessions only what it sent', async () => {
    const sent = { id: session, project_id: server.projectId, attributes: { plan: 'free' } };
    const posted = await server.request('POST', '/sessions', { key, body: [sent] });
    expect(posted.status, posted.text).to.equal(200);
    expect(posted.json).to.deep.equal([{ ...sent, tags: {} }]);
    document.check('POST', '/sessions', posted);
    const full = await server.request('POST', '/sessions', { body: [sent] });
    expect(full.json[0]).to.include({ trace_count: 1, error_count: 1 });
  });

  it('learns of spans neither prices nor names of prompts, which are stored all the same', async () => {
    const id = randomUUID();
    const attributes = { ...CALL, prompt_version_id: version.id };
    const sent = { id, trace_id: randomUUID(), name: 'mine', kind: 'llm', started_at: AT, attributes };
    const posted = await server.request('POST', '/spans', { key, body: [sent] });
    expect(posted.status, posted.text).to.equal(200);
    expect(posted.json[0]).to.include({ cost: null, prompt_slug: null, prompt_version: null });
    expect(posted.json[0]).to.include({ id, model: 'own-model', prompt_version_id: version.id });
    document.check('POST', '/spans', posted);
    const stored = await server.request('GET', `/spans/${id}`);
    expect(stored.json).to.include({ cost: 3, prompt_slug: 'secret-slug', prompt_version: 1 });
  });

  it('finds nothing of others in the answer to any call that it may make', async () => {
    const ids = { id: trace, trace_id: trace, session_id: session, name: 'mine', started_at: AT };
    const own = { id: session, project_id: server.projectId };
    const sent = [
      await server.request('POST', '/spans', { key, body: [ids] }),
      await server.request('POST', '/traces', { key, body: [{ ...ids, trace_id: undefined }] }),
      await server.request('POST', '/sessions', { key, body: [own] }),
      await server.request('POST', '/traces', { key, body: [{ id: trace }] }),
      await server.request('POST', '/v1/traces', { key, body: { resourceSpans: [] } }),
    ];
    expect(sent.map(({ status }) => status)).to.deep.equal([200, 200, 200, 422, 200]);
    for (const { text, headers } of sent) expect(text + JSON.stringify([...headers])).to.not.include('secret');
  });

  it('stores scores, and learns nothing of what they may be', async () => {
    const definition = { kind: 'categorical', categories: ['secret a', 'secret b'], description: 'secret' };
    const path = `/projects/${server.projectId}/score-definitions/tone`;
    expect((await server.request('PUT', path, { body: definition })).status).to.equal(201);
    const score = { entity_type: 'span', entity_id: randomUUID(), name: 'tone', value: 'other' };
    const refused = await server.request('POST', '/scores', { key, body: score });
    expect(refused.status).to.equal(422);
    expect(refused.text).to.not.include('secret').and.not.include('categor');
    const posted = await server.request('POST', '/scores', { key, body: { ...score, name: 'own', value: 1 } });
    expect(posted.status, posted.text).to.equal(200);
    expect(posted.json[0]).to.include({ name: 'own', value: 1 });
    document.check('POST', '/scores', posted);
  });

  it('opens no other call than those of this test', async () => {
    const { paths } = (await server.request('GET', '/openapi.json')).json as {
      paths: Record<string, Record<string, { operationId: string; security?: object[] }>>;
    };
    const opened: string[] = [];
    for (const [path, calls] of Object.entries(paths))
      for (const [method, { operationId, security }] of Object.entries(calls)) {
        if (security?.length === 0) continue;
        const filled = path
          .replace('{project_id}', server.projectId)
          .replace(/\{[^}]*(id|hash)\}/g, randomUUID())
          .replace(/\{[^}]+\}/g, 'x');
        const { status } = await server.request(method.toUpperCase(), filled, { key });
        if (status !== 403) opened.push(operationId);
      }
    expect(opened.sort()).to.deep.equal([
      'announceLangfuseMedia',
      'listLangfuseProjects',
      'patchLangsmithRun',
      'postAbChoice',
      'postLangfuseEvents',
      'postLangfuseOtlpTraces',
      'postLangfuseScore',
      'postLangsmithFeedback',
      'postLangsmithOtlpTraces',
      'postLangsmithRun',
      'postLangsmithRunParts',
      'postLangsmithRuns',
      'postOtlpTraces',
      'postPhoenixEvaluation',
      'postPhoenixOtlpTraces',
      'postPhoenixSessionAnnotations',
      'postPhoenixSessionAnnotationsOfClient',
      'postPhoenixSpanAnnotations',
      'postPhoenixSpanAnnotationsOfClient',
      'postPhoenixTraceAnnotations',
      'postPhoenixTraceAnnotationsOfClient',
      'postScores',
      'postSessions',
      'postSignal',
      'postSignals',
      'postSpans',
      'postTraces',
      'reportLangfuseMedia',
      'whoAmI',
    ]);
  });
});
