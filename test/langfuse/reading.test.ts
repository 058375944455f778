import { LangfuseClient } from '@langfuse/client';
import { expect } from 'chai';
import { Langfuse } from 'langfuse';
import { ApiDocument } from '../harness/api-document.js';
import { makeProject } from '../harness/projects.js';
import type { TestServer } from '../harness/server.js';
import { sharedServer } from '../harness/shared-server.js';

type Json = any;

/** No session has it: spans without one store it. */
const NO_SESSION = '00000000-0000-0000-0000-000000000000';

describe("Langfuse's clients, unchanged, reading", function () {
  this.timeout(30_000);
  let server: TestServer;
  let document: ApiDocument;
  let old: Json;
  let current: Json;
  let traceId: string;
  let generationId: string;

  before(async () => {
    server = await sharedServer();
    document = await ApiDocument.of(server);
    const keys = { publicKey: `pk-sh-${server.projectId}`, secretKey: server.key, baseUrl: server.url };
    [old, current] = [new Langfuse(keys), new LangfuseClient(keys)];
    const context = { userId: 'ann', sessionId: 'shop 1', release: 'r1', version: 'v1', environment: 'test' };
    const trace = old.trace({
      name: 'checkout',
      ...context,
      tags: ['shop'],
      input: { q: 'Where?' },
      metadata: { plan: 'pro' },
    });
    const span = trace.span({ name: 'retrieve', input: 'q', metadata: { step: 1 } });
    const generation = span.generation({ name: 'answer', model: 'gpt-4o', modelParameters: { temperature: 0 } });
    generation.end({ output: 'Here.', usage: { input: 1000, output: 500 } });
    span.event({ name: 'odd', level: 'ERROR', statusMessage: 'broken' });
    span.end();
    trace.update({ output: 'Here.' });
    trace.score({ name: 'helpful', value: 1 });
    generation.score({ name: 'tone', value: 'calm' });
    old.trace({ name: 'other', userId: 'bob' });
    await old.flushAsync();
    [traceId, generationId] = [trace.id, generation.id];
  });
  after(async () => {
    await old?.shutdownAsync();
    await server?.dispose();
  });

  const read = async (path: string, key = server.key) => {
    const answer = await server.request('GET', `/api/public${path}`, { key });
    if (answer.status < 400) document.check('GET', `/api/public${path.split('?')[0] ?? ''}`, answer);
    return answer;
  };

  it('list traces by what they say, and get one with all that is in it', async () => {
    const all = await old.fetchTraces({ limit: 1, page: 2, orderBy: 'name.desc' });
    expect(all.meta).to.deep.equal({ page: 2, limit: 1, totalItems: 2, totalPages: 2 });
    expect(all.data[0].name).to.equal('checkout');
    const { data } = await old.fetchTraces({
      userId: 'ann',
      sessionId: 'shop 1',
      tags: ['shop'],
      name: 'checkout',
      environment: 'test',
    });
    expect(data).to.have.length(1);
    const [listed] = data;
    const said = {
      name: 'checkout',
      userId: 'ann',
      sessionId: 'shop 1',
      release: 'r1',
      version: 'v1',
      environment: 'test',
    };
    expect(listed).to.deep.include({ id: traceId, ...said, tags: ['shop'], input: { q: 'Where?' }, output: 'Here.' });
    expect(listed.metadata).to.include({ plan: 'pro' });
    expect([listed.observations.length, listed.scores.length]).to.deep.equal([3, 1]);
    expect((await old.fetchTraces({ userId: 'eve' })).data).to.deep.equal([]);
    const one = (await old.fetchTrace(traceId)).data;
    expect(one).to.deep.include({ id: traceId, ...said, totalCost: (1000 * 2.5 + 500 * 10) / 1e6 });
    expect(one.observations.map(({ type }: Json) => type).sort()).to.deep.equal(['EVENT', 'GENERATION', 'SPAN']);
    expect(one.scores.map(({ name }: Json) => name).sort()).to.deep.equal(['helpful', 'tone']);
    expect((await current.api.trace.get(traceId)).observations).to.deep.equal(one.observations);
  });

  it('list observations by pages and by a cursor, and get one', async () => {
    const { data } = await old.fetchObservations({ type: 'GENERATION', traceId });
    const [answer] = data;
    expect(answer).to.deep.include({
      ...{
        id: generationId,
        type: 'GENERATION',
        model: 'gpt-4o',
        modelParameters: { temperature: 0 },
        level: 'DEFAULT',
      },
      ...{ usageDetails: { input: 1000, output: 500, total: 1500 }, output: 'Here.', traceId },
    });
    const retrieve = (await old.fetchObservation(answer.parentObservationId)).data;
    expect(retrieve).to.deep.include({ name: 'retrieve', parentObservationId: null, input: 'q' });
    expect(retrieve.metadata).to.include({ step: 1 });
    const failed = await read('/observations?level=ERROR');
    expect(failed.json.data.map(({ name, statusMessage }: Json) => [name, statusMessage])).to.deep.equal([
      ['odd', 'broken'],
    ]);
    const names: string[] = [];
    let cursor: string | undefined;
    do {
      const page: Json = await current.api.observations.getMany({
        traceId,
        limit: 1,
        ...(cursor !== undefined && { cursor }),
      });
      names.push(...page.data.map(({ name }: Json) => name));
      cursor = page.meta.cursor ?? undefined;
    } while (cursor !== undefined);
    expect(names.sort()).to.deep.equal(['answer', 'checkout', 'odd', 'retrieve']);
  });

  it('list sessions and scores', async () => {
    const { data } = await old.fetchSessions();
    expect(data.map(({ id }: Json) => id)).to.deep.equal(['shop 1']);
    const session = await read('/sessions/shop%201');
    expect(session.json.traces.map(({ id }: Json) => id)).to.deep.equal([traceId]);
    const scores = await read(`/v3/scores?traceId=${traceId}&limit=1`);
    const next = await read(`/v3/scores?traceId=${traceId}&limit=1&cursor=${scores.json.meta.cursor}`);
    const both = [...scores.json.data, ...next.json.data];
    expect(both.map(({ name, value, subject }: Json) => [name, value, subject.kind]).sort()).to.deep.equal([
      ['helpful', 1, 'trace'],
      ['tone', 'calm', 'observation'],
    ]);
    expect(next.json.meta.cursor).to.equal(null);
    for (const [session, count] of [
      ['shop%201', 2],
      ['another', 0],
    ])
      expect((await read(`/v2/scores?sessionId=${session}`)).json.meta.totalItems, String(session)).to.equal(count);
  });

  it("refuse what is hostile, and never show another project's", async () => {
    const paths = [
      '/traces?limit=101',
      '/traces?orderBy=input.asc',
      '/traces?fromTimestamp=now',
      '/observations?type=x',
      '/observations?level=WARNING',
      '/v2/observations?cursor=x',
      '/v2/observations?limit=1001',
      '/v3/scores?cursor=%00',
      ...['/traces', '/v2/scores', '/v3/scores'].map((path) => `${path}?sessionId=${NO_SESSION}`),
    ];
    for (const path of paths) expect([path, (await read(path)).status]).to.deep.equal([path, 422]);
    const other = makeProject(server.dataDir);
    for (const path of [`/traces/${traceId}`, `/observations/${generationId}`, '/sessions/shop%201'])
      expect([path, (await read(path, other.key)).status]).to.deep.equal([path, 404]);
    for (const path of ['/traces', '/observations', '/v2/observations', '/sessions', '/v3/scores'])
      expect((await read(path, other.key)).json.data, path).to.deep.equal([]);
  });
});
