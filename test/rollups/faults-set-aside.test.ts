import { randomBytes, randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { unhurried } from '../harness/program.js';
import { projectMaker } from '../harness/projects.js';
import { bootServer, send, type TestResponse, type TestServer } from '../harness/server.js';

const SPANS = 40;
/** Together far more than one statement may take of such an engine. */
const TAG_BYTES = 4_500_000;
/** How long anybody else's request may take, at once after the trace was written. */
const PROMPT_MS = 5_000;
const env = { ENGINE_MEMORY_MB: '512' };
const limits = { tagBytes: 16_000_000 };

/**
 * One after the other: each is about a client of its own, and what the one before left behind. Alone on the machine: how much memory
 * the engine has left for a statement depends on how far its merges are.
 */
describe('a trace whose tags exceed the memory of the engine @alone', function () {
  this.timeout(180_000);
  let server: TestServer;
  let other: { readonly projectId: string; readonly key: string };
  const [trace, session, light] = [randomUUID(), randomUUID(), randomUUID()];

  before(async () => {
    server = await bootServer({ env, limits });
    const projects = projectMaker(server.dataDir);
    other = projects.make();
    projects.close();
    for (let sent = 0; sent < SPANS; sent += 1) await stored(heavySpan());
  });
  after(() => server.dispose());

  const heavySpan = () => ({
    trace_id: trace,
    name: 'heavy',
    session_id: session,
    started_at: '2026-01-15T10:00:00Z',
    cost: 0.5,
    session_tags: { heavy: randomBytes(TAG_BYTES / 2).toString('hex') },
  });

  /** Sends as clients do: again, while the engine merges what it got and has no memory for more. */
  async function stored(span: object): Promise<void> {
    const body = [{ id: randomUUID(), ...span }];
    const deadline = performance.now() + 60_000;
    for (;;) {
      const { status, text } = await server.request('POST', '/spans', { body, headers: { prefer: 'return=minimal' } });
      if (status === 200) return;
      expect(status, text).to.equal(503);
      expect(performance.now()).to.be.below(deadline);
      await sleep(500);
    }
  }

  /** Of the other project, which must not notice anything. */
  async function promptly(method: string, path: string, body?: unknown): Promise<TestResponse> {
    const started = performance.now();
    const answer = await send(server.url + path, method, { key: other.key, body });
    expect(performance.now() - started, `${method} ${path}`).to.be.below(unhurried(PROMPT_MS));
    return answer;
  }

  async function othersAreServed(): Promise<void> {
    const span = { trace_id: randomUUID(), name: 'n', session_id: randomUUID(), started_at: '2026-01-15T10:00:00Z' };
    expect((await promptly('POST', '/spans', [span])).status).to.equal(200);
    for (const list of ['spans', 'traces', 'sessions']) {
      const { status, json, headers } = await promptly('GET', `/${list}`);
      expect([list, status, headers.get('x-not-current')]).to.deep.equal([list, 200, null]);
      expect(json).to.not.have.length(0);
    }
    expect((await promptly('DELETE', `/traces/${span.trace_id}`)).status).to.equal(204);
  }

  async function marks(): Promise<unknown[]> {
    // Alone among lists this waits for the round that sets aside what is too large.
    await server.request('GET', '/sessions?q=nothing');
    const lists = await Promise.all(
      ['traces', 'sessions', 'spans'].map((list) => server.request('GET', `/${list}?fields=id`)),
    );
    return lists.map(({ status, headers }) => [
      status,
      headers.get('x-not-current'),
      headers.get('x-not-current-count'),
    ]);
  }

  async function metric(name: string): Promise<string | undefined> {
    const { text } = await server.request('GET', '/metrics', { key: null });
    return text.split('\n').find((line) => line.startsWith(name));
  }

  const MARKED = [
    [200, trace, '1'],
    [200, session, '1'],
    [200, null, null],
  ];
  const UNMARKED = [
    [200, null, null],
    [200, null, null],
    [200, null, null],
  ];

  it('keeps no other project waiting', othersAreServed);

  it('is marked, keeps its figures, and leaves the other traces of its project alone', async () => {
    await stored({ trace_id: light, name: 'light', started_at: '2026-01-15T10:00:00Z', trace_tags: { light: 'yes' } });
    const found = await server.request('GET', '/traces?light=yes');
    expect(found.json).to.have.length(1);
    expect(await marks()).to.deep.equal(MARKED);
    const [heavy] = (await server.request('GET', `/traces?id=${trace}`)).json;
    expect(heavy).to.deep.include({ span_count: SPANS, cost: SPANS / 2, session_id: session });
    const [its] = (await server.request('GET', `/sessions?id=${session}`)).json;
    expect(its).to.deep.include({ trace_count: 1, cost: SPANS / 2 });
    expect((await server.request('GET', `/spans?trace_id=${trace}&fields=id`)).json).to.have.length(SPANS);
    expect(await metric('spanhouse_rollup_set_aside_traces ')).to.match(/ 1$/);
    expect(await metric('spanhouse_rollup_set_aside_total{kind="trace"}')).to.match(/ 1$/);
  });

  it('does not keep the next start from serving', async () => {
    await server.stop();
    server = await bootServer({ env, limits, dataDir: server.dataDir });
    expect((await server.request('GET', '/readyz', { key: null })).status).to.equal(200);
    expect(await marks()).to.deep.equal(MARKED);
    await othersAreServed();
  });

  it('can be deleted, and then nothing is marked, also by the start after that', async () => {
    expect((await server.request('DELETE', `/traces/${trace}`)).status).to.equal(204);
    expect(await marks()).to.deep.equal(UNMARKED);
    expect((await server.request('GET', `/traces?id=${trace}`)).json).to.deep.equal([]);
    expect((await server.request('GET', `/sessions?id=${session}`)).json).to.deep.equal([]);
    expect((await server.request('GET', '/spans?names=heavy&fields=id')).json).to.deep.equal([]);
    expect(await metric('spanhouse_rollup_set_aside_traces ')).to.match(/ 0$/);
    await othersAreServed();
    await server.stop();
    server = await bootServer({ env, limits, dataDir: server.dataDir });
    expect(await marks()).to.deep.equal(UNMARKED);
    expect((await server.request('GET', '/traces?light=yes')).json).to.have.length(1);
  });
});

describe('more tags than a span may have', () => {
  let server: TestServer;
  before(async () => {
    server = await bootServer({ limits: { tagBytes: 1024 } });
  });
  after(() => server.dispose());

  const tags = (bytes: number) => ({ key: 'é'.repeat((bytes - 3) / 2) + (bytes % 2 === 0 ? 'x' : '') });
  const base = { trace_id: randomUUID(), name: 'n', started_at: '2026-01-15T10:00:00Z' };

  for (const field of ['tags', 'trace_tags', 'session_tags'])
    it(`${field}: bytes of keys and values are counted, and nothing of the request is stored`, async () => {
      const id = randomUUID();
      const post = (bytes: number) =>
        server.request('POST', '/spans', {
          body: [
            { ...base, id },
            { ...base, [field]: tags(bytes) },
          ],
        });
      const refused = await post(1025);
      expect([refused.status, refused.json.errors]).to.deep.equal([
        422,
        [{ pointer: `/1/${field}`, detail: 'must not have more than 1024 bytes of keys and values together' }],
      ]);
      expect((await server.request('GET', `/spans?id=${id}`)).json).to.deep.equal([]);
      expect((await post(1024)).status).to.equal(200);
    });

  it('statements about traces and sessions have the same limit', async () => {
    const statement = { name: 'n', started_at: base.started_at, session_id: randomUUID(), tags: tags(1025) };
    const trace = await server.request('POST', '/traces', { body: [statement] });
    expect([trace.status, trace.json.errors[0].pointer]).to.deep.equal([422, '/0/tags']);
    const session = await server.request('POST', '/sessions', {
      body: [{ project_id: server.projectId, tags: tags(1025) }],
    });
    expect([session.status, session.json.errors[0].pointer]).to.deep.equal([422, '/0/tags']);
  });

  it('by OTLP that span alone is refused', async () => {
    const span = (user: string) => ({
      traceId: randomBytes(16).toString('hex'),
      spanId: randomBytes(8).toString('hex'),
      name: 'n',
      startTimeUnixNano: '1768471200000000000',
      attributes: [{ key: 'user.id', value: { stringValue: user } }],
    });
    const { status, json } = await server.request('POST', '/v1/traces', {
      body: { resourceSpans: [{ scopeSpans: [{ spans: [span('small'), span('u'.repeat(1100))] }] }] },
    });
    expect(status).to.equal(200);
    expect(json.partialSuccess.rejectedSpans).to.satisfy((count: unknown) => Number(count) === 1);
    expect(json.partialSuccess.errorMessage).to.contain('tags must not have more than 1024 bytes');
    const listed = await server.request('GET', '/spans?user=small');
    expect(listed.json).to.have.length(1);
  });
});
