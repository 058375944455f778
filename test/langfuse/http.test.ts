import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { ApiDocument } from '../harness/api-document.js';
import { makeProject, type MadeProject } from '../harness/projects.js';
import { bootServer, type TestServer } from '../harness/server.js';
import { at, basic, langfuse, type SentEvent } from './langfuse-client.js';

describe('calls of Langfuse', function () {
  this.timeout(60_000);
  let server: TestServer;
  let other: MadeProject;
  let client: ReturnType<typeof langfuse>;
  let document: ApiDocument;
  before(async () => {
    server = await bootServer();
    other = makeProject(server.dataDir);
    client = langfuse(server);
    document = await ApiDocument.of(server);
  });
  after(() => server.dispose());

  const event = (type: string, body: object, more: object = {}): SentEvent => ({
    ...{ id: randomUUID(), type, timestamp: at(0), body: { ...body } },
    ...more,
  });

  it('take the key behind the public key of its project, everywhere', async () => {
    const { headers } = client;
    const { status, json } = await server.request('GET', '/api/public/projects', { key: null, headers });
    expect(status).to.equal(200);
    expect(json.data).to.have.length(1);
    expect(json.data[0]).to.include({ id: server.projectId });
    expect((await server.request('GET', '/whoami', { key: null, headers })).status).to.equal(200);
    const made = await server.request('POST', `/projects/${server.projectId}/api-keys`, { body: { name: 'pair' } });
    expect(made.json.public_key).to.equal(`pk-sh-${server.projectId}`);
    const pair = { authorization: basic(made.json.public_key, made.json.key) };
    expect((await server.request('GET', '/traces', { key: null, headers: pair })).status).to.equal(200);
  });

  it('refuse any other pair', async () => {
    const refused = [
      basic(`pk-sh-${other.projectId}`, server.key),
      basic('pk-lf-1', server.key),
      basic('', server.key),
      basic(`pk-sh-${server.projectId}`, 'sk-lf-1'),
      basic(`pk-sh-${server.projectId}`, ''),
      `Basic ${'A'.repeat(5_000)}`,
      'Basic ====',
      `Bearer pk-sh-${server.projectId}`,
    ];
    for (const authorization of refused) {
      const { status, json } = await server.request('GET', '/api/public/projects', {
        key: null,
        headers: { authorization },
      });
      expect([authorization.slice(0, 80), status]).to.deep.equal([authorization.slice(0, 80), 401]);
      expect(json.message).to.equal(json.detail);
    }
  });

  it('say that the server is up', async () => {
    const { status, json } = await server.request('GET', '/api/public/health', { key: null });
    expect([status, json.status]).to.deep.equal([200, 'OK']);
  });

  it('lead from links into the console', async () => {
    const trace = randomUUID();
    const to = async (path: string) => (await server.request('GET', path, { key: null })).headers.get('location');
    expect(await to(`/project/${server.projectId}/traces/${trace.toUpperCase()}`)).to.equal(
      `/console/p/${server.projectId}/traces/${trace}`,
    );
    expect(await to(`/project/${encodeURIComponent('//evil.example')}/traces/x`)).to.equal('/console');
    expect(await to(`/trace/${trace}`)).to.equal('/console');
  });

  it('refuse events one by one, and say why', async () => {
    const id = randomUUID();
    const batch: readonly (readonly [unknown, RegExp | null])[] = [
      [event('trace-create', { id: 'one', name: 'kept' }), null],
      [event('sdk-log', { log: 'anything' }), null],
      [event('span-create', { id, traceId: 'one', parentObservationId: id }), /must not be the observation itself/],
      [event('span-create', { traceId: 'one', startTime: 'yesterday' }), /time that is not ISO 8601/],
      [event('span-create', { id: 'b', traceId: 'one' }, { timestamp: 'now' }), /timestamp/],
      [event('toString-create', {}), /not known/],
      [event('trace-delete', {}), /not known/],
      [event('span-create', { id: 7 }), /id/],
      [event('span-create', { name: 'n'.repeat(5_000) }), /name/],
      [event('trace-create', { id: 'two', sessionId: 's'.repeat(5_000) }), /sessionId/],
      [event('score-create', { traceId: 'one', name: 'good', value: 1 }), null],
      [event('score-create', { traceId: 'one', name: 'good', value: 'text' }), /value/],
      // What is refused says nothing of the values of its name.
      [
        event('score-create', { traceId: 'one', name: 'new', value: 'x', metadata: { m: 'm'.repeat(300_000) } }),
        /metadata/,
      ],
      [event('score-create', { traceId: 'one', name: 'new', value: 1 }), null],
      [event('score-create', { name: 'nothing', value: 1 }), /traceId/],
      [event('score-create', { datasetRunId: 'run', name: 'nothing', value: 1 }), /datasetRunId/],
      [event('score-create', { datasetRunId: randomUUID(), name: 'nothing', value: 1 }), /no experiment/],
      [null, /object/],
      ['event', /object/],
      [{}, /id|type/],
    ];
    const answer = await client.send(batch.map(([sent]) => sent));
    expect(answer.status, answer.text).to.equal(207);
    document.check('POST', '/api/public/ingestion', answer);
    const { successes, errors } = answer.json as {
      successes: { id: string }[];
      errors: { id: string; message: string }[];
    };
    expect(successes.map((each) => each.id)).to.deep.equal(
      batch.flatMap(([sent, why]) => (why === null ? [(sent as SentEvent).id] : [])),
    );
    const reasons = batch.flatMap(([, why]) => (why === null ? [] : [why]));
    expect(errors).to.have.length(reasons.length);
    for (const [index, { message }] of errors.entries()) expect(message).to.match(reasons[index]!);
  });

  it('refuse what is no batch, or too much of one', async () => {
    for (const body of [{}, { batch: 'x' }, [], { batch: Array(10_001).fill(0) }])
      expect((await server.request('POST', '/api/public/ingestion', { body })).status).to.equal(422);
    const deep = `{"batch":[{"id":"a","type":"span-create","timestamp":"${at(0)}","body":{"input":${'['.repeat(300)}${']'.repeat(300)}}}]}`;
    expect((await server.request('POST', '/api/public/ingestion', { body: deep })).status).to.equal(400);
  });

  it('take ten thousand events while others are served, and parents in circles', async () => {
    const traceId = randomUUID();
    const batch = Array.from({ length: 10_000 }, (_none, index) =>
      event('span-create', {
        ...{ id: `s${index}`, traceId, name: `span ${index}`, startTime: at(index) },
        parentObservationId: `s${(index + 1) % 10_000}`,
      }),
    );
    const sent = client.send(batch);
    let slowest = 0;
    let done = false;
    void sent.finally(() => (done = true));
    while (!done) {
      const began = performance.now();
      await server.request('GET', '/healthz', { key: null });
      slowest = Math.max(slowest, performance.now() - began);
    }
    const { status, json } = await sent;
    expect([status, json.errors]).to.deep.equal([207, []]);
    const [trace] = (await server.request('GET', `/traces?id=${traceId}`)).json;
    expect(trace.span_count).to.equal(10_000);
    console.log(`      others waited at most ${Math.round(slowest)} ms`);
  });

  it("never touch another project's spans of the same ids", async () => {
    const [id, traceId] = [randomUUID(), randomUUID()];
    await client.send([event('span-create', { id, traceId, name: 'ours', input: 'secret' })]);
    const theirs = langfuse({ ...server, ...other });
    const { json } = await theirs.send([event('span-update', { id, traceId, output: 'theirs' }, { timestamp: at(9) })]);
    expect(json.errors).to.deep.equal([]);
    const ours = (await server.request('GET', `/spans?trace_id=${traceId}`)).json;
    expect(ours).to.have.length(1);
    expect(ours[0]).to.include({ name: 'ours', input_data: 'secret', output_data: null });
    const others = (await server.request('GET', `/spans?trace_id=${traceId}`, { key: other.key })).json;
    expect(others).to.have.length(1);
    expect(others[0]).to.include({ name: 'unnamed', input_data: null, output_data: 'theirs' });
  });

  it('store, list and delete scores', async () => {
    const traceId = randomUUID();
    const call = (method: string, path: string, body?: object) =>
      server.request(method, `/api/public${path}`, { key: null, headers: client.headers, ...(body && { body }) });
    const posted = await call('POST', '/scores', {
      traceId,
      name: 'helpful',
      value: 1,
      dataType: 'BOOLEAN',
      comment: 'yes',
    });
    expect(posted.status, posted.text).to.equal(200);
    document.check('POST', '/api/public/scores', posted);
    await call('POST', '/scores', { traceId, name: 'tone', value: 'calm', dataType: 'CATEGORICAL' });
    const listed = await call('GET', `/v2/scores?traceId=${traceId}&limit=1`);
    document.check('GET', '/api/public/v2/scores', listed);
    expect(listed.json.meta).to.deep.equal({ page: 1, limit: 1, totalItems: 2, totalPages: 2 });
    expect(listed.json.data[0]).to.include({ name: 'tone', dataType: 'CATEGORICAL', value: 'calm', traceId });
    const [first] = (await call('GET', `/v2/scores?traceId=${traceId}&name=helpful`)).json.data;
    expect(first).to.include({
      id: posted.json.id,
      value: 1,
      stringValue: 'True',
      dataType: 'BOOLEAN',
      comment: 'yes',
    });
    expect((await call('DELETE', `/scores/${posted.json.id}`)).status).to.equal(204);
    expect((await call('DELETE', `/scores/${posted.json.id}`)).status).to.equal(404);
    const refused = await call('POST', '/scores', { name: 'helpful', value: 1 });
    expect([refused.status, refused.json.message]).to.deep.equal([
      422,
      '/traceId, sessionId or datasetRunId is required',
    ]);
  });
});
