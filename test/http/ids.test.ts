import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import { v5 } from 'uuid';
import { namedUuids } from '../../src/engine/schema/named-uuids.js';
import { spanUuid, traceUuid } from '../../src/engine/schema/ids.js';
import { JudgeApi } from '../judges/judge-api.js';
import type { TestServer } from '../harness/server.js';
import { sharedServer } from '../harness/shared-server.js';

describe('ids as OpenTelemetry shows them', () => {
  let server: TestServer;
  let api: JudgeApi;

  before(async () => {
    server = await sharedServer();
    api = new JudgeApi(server);
    await api.expect(200, 'POST', '/v1/tasks/p/prompt/versions/ensure', { content: 'Say hello.' });
  });
  after(() => server.dispose());

  const traceId = () => randomBytes(16).toString('hex');
  const spanId = () => randomBytes(8).toString('hex');
  const nano = (ms: number) => `${BigInt(Date.now() + ms) * 1_000_000n}`;

  /** Stores a span by OTLP and answers its ids as hex digits. */
  async function exported(): Promise<{ readonly trace: string; readonly id: string }> {
    const [trace, id] = [traceId(), spanId()];
    const span = { traceId: trace, spanId: id, name: 'call', startTimeUnixNano: nano(0), endTimeUnixNano: nano(5) };
    await api.expect(200, 'POST', '/v1/traces', { resourceSpans: [{ scopeSpans: [{ spans: [span] }] }] });
    return { trace, id };
  }

  it('are taken in the elements of a request, and answered as UUIDs', async () => {
    const [trace, id, parent, session] = [traceId(), spanId(), spanId(), traceId()];
    const element = { id, trace_id: trace.toUpperCase(), parent_span_id: parent, session_id: session };
    const [stored] = await api.post({ ...element, name: 'x', started_at: Date.now(), session: { id: session } });
    expect(stored).to.include({
      id: spanUuid(id),
      trace_id: traceUuid(trace),
      parent_span_id: spanUuid(parent),
      session_id: traceUuid(session),
    });
    const posted = { id: trace, session_id: session, name: 't', started_at: 0 };
    expect(await api.expect(200, 'POST', '/traces', [posted])).to.have.nested.property('[0].id', traceUuid(trace));
    const project_id = server.projectId.replaceAll('-', '');
    const sessions = await api.expect(200, 'POST', '/sessions', [{ id: session, project_id }]);
    expect(sessions).to.have.nested.property('[0].id', traceUuid(session));
  });

  it('are taken by filters, in either case', async () => {
    const { trace, id } = await exported();
    for (const query of [
      `id=${id}`,
      `trace_id=${trace}`,
      `id=${id.toUpperCase()}`,
      `trace_id=${trace.toUpperCase()}`,
    ]) {
      const found = await api.expect(200, 'GET', `/spans?${query}`);
      expect(found, query).to.have.length(1);
      expect(found[0]).to.include({ id: spanUuid(id), trace_id: traceUuid(trace) });
    }
    expect(await api.expect(200, 'GET', `/traces?id=${trace}`)).to.have.length(1);
    expect(await api.refused('GET', `/spans?id=${id}0`)).to.deep.equal({ '?id': 'must be a UUID' });
    expect(await api.refused('GET', `/spans?id=${'g'.repeat(32)}`)).to.deep.equal({ '?id': 'must be a UUID' });
  });

  it('are taken in bodies, also in lists', async () => {
    const { id } = await exported();
    const judge = await api.create({ enabled: false });
    const judgeId = (judge['id'] as string).replaceAll('-', '').toUpperCase();
    const evaluation = { span_id: id, evaluation_result: true };
    const stored = await api.expect(201, 'POST', `judges/${judgeId}/evaluations`, evaluation);
    expect(stored).to.include({ span_id: spanUuid(id), judge_id: judge['id'] });
    const run = await api.expect(409, 'POST', `judges/${judgeId}:run`, { span_ids: [id, spanUuid(id).toUpperCase()] });
    expect(run.detail).to.contain('No model endpoint');
    expect(await api.refused('POST', `judges/${judgeId}:run`, { span_ids: [`${id}0`] })).to.deep.equal({
      '/span_ids/0': 'must be a UUID',
    });
    const feedback = { thumbs_up: false, judge_id: judgeId };
    const path = `/v1/prompts/${judge['task_slug']}/completions/${id}/feedback`;
    expect(await api.expect(200, 'POST', path, feedback)).to.include({
      completion_id: spanUuid(id),
      judge_id: judge['id'],
    });
  });

  it('are taken in paths', async () => {
    const { trace, id } = await exported();
    const project = `/projects/${server.projectId.replaceAll('-', '')}`;
    const given = await api.expect(200, 'POST', `/v1/prompts/p/completions/${id}/feedback`, { thumbs_up: true });
    expect(given.completion_id).to.equal(spanUuid(id));
    for (const entity of [`span/${id}`, `trace/${trace.toUpperCase()}`]) {
      const { entity_id, items } = await api.expect(200, 'GET', `${project}/feedback/${entity}`);
      expect(entity_id).to.equal(entity.startsWith('span') ? spanUuid(id) : traceUuid(trace));
      expect(items).to.have.length(1);
    }
    const evaluations = await api.expect(200, 'GET', `${project}/spans/${id}/evaluations`);
    expect(evaluations).to.deep.equal({ span_id: spanUuid(id), evaluations: [] });
    expect(await api.expect(200, 'GET', `/spans/${id}/attachments`)).to.include({ count: 0 });
    await api.expect(204, 'DELETE', `/spans/${id}`);
    await api.expect(404, 'DELETE', `/traces/${trace}`);
  });

  it('are in the documentation, so that generated clients send them', async () => {
    const { components, paths } = (await server.request('GET', '/openapi.json', { key: null })).json;
    const { pattern, description, format } = components.schemas.Id;
    for (const id of [traceId(), spanId(), traceUuid(traceId()).toUpperCase()])
      expect(id).to.match(new RegExp(pattern));
    expect(format).to.equal(undefined);
    expect(description).to.contain('32 hex digits');
    expect(components.schemas.SpanInput.properties.trace_id.$ref).to.equal('#/components/schemas/Id');
    expect(components.schemas.SpanRead.properties.trace_id.format).to.equal('uuid');
    expect(paths['/spans/{id}'].delete.parameters[0].schema.$ref).to.equal('#/components/schemas/Id');
  });
});

describe('ids that are made of names', () => {
  it('are those of RFC 9562, version 5', () => {
    const namespace = 'b0f4a5c7-3c1e-4d0a-9a52-6a1c2f6f9d11';
    const idOf = namedUuids(namespace);
    for (const name of ['', 'a', 'ä€😀', JSON.stringify(['x', 1]), 'é'.repeat(512), 'e'.repeat(1_025), 'b'])
      expect(idOf(name)).to.equal(v5(name, namespace));
    for (let index = 0; index < 200; index += 1) expect(idOf(String(index))).to.equal(v5(String(index), namespace));
  });
});
