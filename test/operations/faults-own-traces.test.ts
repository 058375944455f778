import { randomUUID } from 'node:crypto';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { PassThrough } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { createLogger } from '../../src/engine/signals/logger.js';
import { unhurried } from '../harness/program.js';
import { Programs } from '../harness/programs.js';
import { bootServer, type TestServer } from '../harness/server.js';
import { GrpcExporter, message } from '../otlp/grpc-exporter.js';
import { otlpSpan } from '../otlp/requests.js';
import { startTraceReceiver, type ReceivedSpan, type TraceReceiver } from './trace-receiver.js';

/** A text that must not get into any span. */
const SECRET = 'a text of a client';
const CALLER = { traceId: '0af7651916cd43dd8448eb211c80319c', spanId: 'b7ad6b7169203331' };

const spanNamed = (name: string) => ({ trace_id: randomUUID(), name, input_data: SECRET, started_at: Date.now() });
const isRoot = ({ parentSpanId }: ReceivedSpan) => parentSpanId === '';

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

function linesOf() {
  const stream = new PassThrough();
  let text = '';
  stream.on('data', (chunk: Buffer) => (text += String(chunk)));
  return { logger: createLogger({ level: 'warn', format: 'json' }, stream), lines: () => text.trim().split('\n') };
}

describe("the server's own traces", () => {
  let receiver: TraceReceiver;
  let server: TestServer;
  let grpc: GrpcExporter;

  before(async () => {
    receiver = await startTraceReceiver();
    server = await bootServer({
      env: {
        OTLP_GRPC_PORT: '0',
        OTEL_EXPORTER_OTLP_ENDPOINT: `${receiver.endpoint}/`,
        OTEL_EXPORTER_OTLP_HEADERS: 'X-Tenant=our%20team,Authorization=Bearer%20hunter2',
        OTEL_SERVICE_NAME: 'spanhouse-eu',
      },
    });
    grpc = new GrpcExporter(server);
  });
  after(async () => {
    grpc.close();
    await server.dispose();
    await receiver.stop();
  });

  const childrenOf = (parent: ReceivedSpan) =>
    receiver.spans.filter(({ parentSpanId }) => parentSpanId === parent.spanId);
  const within = ({ traceId }: ReceivedSpan, name: string) =>
    receiver.received((span) => span.traceId === traceId && span.name === name, `${name} in the trace`);
  const rootNamed = (name: string) => receiver.received((span) => isRoot(span) && span.name === name, name);

  it('hold a request, its commit, the round after it and their statements as one trace', async () => {
    const { status } = await server.request('POST', '/spans', { body: [spanNamed('one'), spanNamed('two')] });
    expect(status).to.equal(200);
    const request = await rootNamed('POST /spans');
    expect(request.kind).to.equal('SPAN_KIND_SERVER');
    expect(request.attributes).to.deep.equal({
      'http.request.method': 'POST',
      'http.route': '/spans',
      'http.response.status_code': 200,
      'url.scheme': 'http',
    });
    const commit = await within(request, 'commit');
    expect(commit.parentSpanId).to.equal(request.spanId);
    expect(commit.attributes).to.include({ 'spanhouse.commit.requests': 1, 'spanhouse.commit.rows': 2 });
    const flush = await within(request, 'flush');
    expect(flush.parentSpanId).to.equal(commit.spanId);
    expect(flush.attributes).to.include({ 'spanhouse.flush.rows': 2 });
    const insert = await within(request, 'INSERT spans');
    expect(insert).to.include({ parentSpanId: flush.spanId, kind: 'SPAN_KIND_CLIENT', error: false });
    expect(insert.attributes).to.deep.equal({
      'db.system.name': 'clickhouse',
      'db.operation.name': 'INSERT',
      'db.query.summary': 'INSERT spans',
      'db.collection.name': 'spans',
    });
    const round = await within(request, 'rollup round');
    expect(round.parentSpanId).to.equal(commit.spanId);
    expect(round.attributes).to.deep.equal({ 'spanhouse.round.traces': 2, 'spanhouse.round.sessions': 0 });
    expect((await within(request, 'INSERT touch_traces')).parentSpanId).to.equal(round.spanId);
    expect(childrenOf(request)).to.deep.equal([commit]);
  });

  it('say where they come from, with the headers that were set', () => {
    expect(receiver.requests[0]?.service).to.equal('spanhouse-eu');
    expect(receiver.requests[0]?.headers).to.include({ 'x-tenant': 'our team', authorization: 'Bearer hunter2' });
  });

  it('hold the statements of a list, and nothing that a client wrote', async () => {
    const words = encodeURIComponent(SECRET);
    const { status } = await server.request('GET', `/traces?q=${words}&tags.${words}=${words}&names=${words}&limit=7`);
    expect(status).to.equal(200);
    const request = await rootNamed('GET /traces');
    const reads = childrenOf(request);
    expect(reads).not.to.be.empty;
    for (const { name, attributes } of reads) {
      expect(name).to.match(/^(SELECT|EXPLAIN)( [a-z_]+)+$/);
      expect(attributes).to.include({ 'db.system.name': 'clickhouse', 'db.query.summary': name });
    }
    // Its rows are sent to the client as they come.
    await server.request('GET', `/spans?q=${words}`);
    expect(childrenOf(await rootNamed('GET /spans')).map(({ name }) => name)).to.include('SELECT spans superseded');
    await server.request('GET', `/${words}`);
    await rootNamed('GET');
    const all = JSON.stringify(receiver.spans);
    for (const text of [SECRET, words, server.key, server.projectId]) expect(all).not.to.include(text);
  });

  it('show each of several requests in one commit how long that took', async () => {
    const bodies = Array.from({ length: 12 }, (_, n) => [spanNamed(`n${n}`)]);
    const known = new Set(receiver.spans);
    await Promise.all(bodies.map((body) => server.request('POST', '/spans', { body })));
    const isNew = (name: string) => (span: ReceivedSpan) => span.name === name && !known.has(span);
    const all = () => ['POST /spans', 'commit'].every((name) => receiver.spans.filter(isNew(name)).length === 12);
    await receiver.received(all, 'all twelve requests and commits');
    const commits = receiver.spans.filter(isNew('commit'));
    const requests = receiver.spans.filter(isNew('POST /spans'));
    expect(new Set(commits.map(({ parentSpanId }) => parentSpanId)).size).to.equal(12);
    const together = new Map<string, number>();
    for (const { spanId, traceId, parentSpanId, links, attributes } of commits) {
      expect(requests.find((request) => request.spanId === parentSpanId)?.traceId).to.equal(traceId);
      // Of several requests in one commit, the others name the first.
      const first = commits.find((commit) => links.some((link) => link.spanId === commit.spanId));
      if (first)
        expect(first.attributes['spanhouse.commit.requests']).to.equal(attributes['spanhouse.commit.requests']);
      const id = first?.spanId ?? spanId;
      together.set(id, (together.get(id) ?? 0) + 1);
    }
    for (const [id, count] of together)
      expect(commits.find(({ spanId }) => spanId === id)?.attributes['spanhouse.commit.requests']).to.equal(count);
  });

  it('link to the trace of a caller and are no part of it, whatever it wants', async () => {
    for (const flags of ['00', '01']) {
      const traceparent = `00-${CALLER.traceId}-${CALLER.spanId}-${flags}`;
      await server.request('GET', `/sessions`, { headers: { traceparent, tracestate: SECRET } });
    }
    for (const traceparent of ['', '00-zz-zz-01', `00-${'0'.repeat(32)}-${CALLER.spanId}-01`, 'x'.repeat(9000)])
      expect((await server.request('GET', '/sessions', { headers: { traceparent } })).status).to.equal(200);
    const sessions = () => receiver.spans.filter(({ name }) => name === 'GET /sessions');
    await receiver.received(() => sessions().length === 6, 'all six requests');
    expect(sessions().map(({ links }) => links)).to.deep.equal([[CALLER], [CALLER], [], [], [], []]);
    expect(sessions().every(isRoot)).to.equal(true);
    expect(new Set(sessions().map(({ traceId }) => traceId)).size).to.equal(6);
  });

  it('tell of what fails, and not of probes that succeed', async () => {
    for (const path of ['/healthz', '/readyz', '/metrics'])
      expect((await server.request('GET', path)).status).to.equal(200);
    expect((await server.request('GET', '/spans?limit=many')).status).to.equal(422);
    const refused = await receiver.received(
      ({ attributes }) => attributes['http.response.status_code'] === 422,
      'a refused request',
    );
    expect(refused).to.include({ name: 'GET /spans', error: false });
    expect(receiver.spans.map(({ name }) => name).join()).not.to.match(/healthz|readyz|metrics/);
  });

  it('hold gRPC calls with their commit', async () => {
    expect((await grpc.send(message(otlpSpan()))).code).to.equal(0);
    const call = await rootNamed('opentelemetry.proto.collector.trace.v1.TraceService/Export');
    expect(call.attributes).to.deep.equal({
      'rpc.system.name': 'grpc',
      'rpc.method': 'opentelemetry.proto.collector.trace.v1.TraceService/Export',
      'rpc.response.status_code': 'OK',
    });
    expect((await within(call, 'commit')).parentSpanId).to.equal(call.spanId);
  });

  it('do not grow while a client tails a list', async () => {
    const controller = new AbortController();
    const headers = { authorization: `Bearer ${server.key}` };
    const tail = await fetch(`${server.url}/spans:tail`, { headers, signal: controller.signal });
    expect(tail.status).to.equal(200);
    const request = await rootNamed('GET /spans:tail');
    const before = childrenOf(request).length;
    const reader = tail.body?.getReader();
    const told = (async () => {
      for (let text = ''; !text.includes('while tailed');)
        text += Buffer.from((await reader?.read())?.value ?? []).toString();
    })();
    await server.request('POST', '/spans', { body: [spanNamed('while tailed')] });
    await told;
    controller.abort();
    await server.request('DELETE', '/nothing');
    await rootNamed('DELETE');
    expect(childrenOf(request)).to.have.length(before);
  });
});

describe("the server's own traces, where they cannot go", () => {
  it('cost one warning while their endpoint is away, and one line when it is back', async () => {
    const port = await freePort();
    const { logger, lines } = linesOf();
    const server = await bootServer({
      logger,
      env: { OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}`, OTEL_EXPORTER_OTLP_HEADERS: 'k=hunter2' },
    });
    const told = async (result: string) => {
      const until = Date.now() + unhurried(15_000);
      const wanted = new RegExp(`spanhouse_own_spans_total\\{result="${result}"\\} [1-9]`);
      while (!wanted.test((await server.request('GET', '/metrics')).text)) {
        if (Date.now() > until) throw new Error(`No span was ${result}`);
        expect((await server.request('POST', '/spans', { body: [spanNamed('on')] })).status).to.equal(200);
        await sleep(100);
      }
    };
    // A server that answers with an error fails at once, where one that is away is tried again for ten seconds.
    const receiver = await startTraceReceiver(port);
    receiver.answer = 403;
    try {
      await told('failed');
      receiver.answer = 200;
      await told('sent');
    } finally {
      await receiver.stop();
      await server.dispose();
    }
    const warnings = lines().filter((line) => line.includes('OpenTelemetry'));
    expect(warnings).to.have.length(1);
    const { message: said, reason, action } = JSON.parse(warnings[0] ?? '{}') as Record<string, string>;
    expect(said).to.match(/rejects traces/);
    expect(reason).to.match(/^it responds with 403/);
    expect(action).to.include('OTEL_EXPORTER_OTLP_ENDPOINT');
    expect(lines().join()).not.to.include('hunter2');
  });

  it('come to rest when they go to the server itself', async () => {
    const port = await freePort();
    const server = await bootServer({
      env: {
        PORT: String(port),
        OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}`,
        OTEL_EXPORTER_OTLP_HEADERS: 'Authorization=Bearer%20sk_sh_test_key_of_the_harness',
      },
    });
    try {
      await server.request('POST', '/spans', { body: [spanNamed('seen')] });
      const names = async () =>
        (await server.request('GET', '/metrics')).text.match(/own_spans_total\{result="sent"\} (\d+)/)?.[1] ?? '0';
      const until = Date.now() + unhurried(15_000);
      // Request, commit, insert, and the round with its own; then nothing more, although all of these were stored.
      let [before, now] = ['0', await names()];
      while (now === '0' || now !== before) {
        if (Date.now() > until) throw new Error('It goes on sending spans');
        await sleep(2_500);
        [before, now] = [now, await names()];
      }
      const stored = await server.request('GET', '/spans?names=commit');
      expect(stored.json).to.have.length(1);
    } finally {
      await server.dispose();
    }
  });
});

describe('a server that does not trace itself', () => {
  /** Has Node.js say on standard error which modules of OpenTelemetry it loads. */
  const SPY = `import { writeSync } from 'node:fs';
    export const resolve = (name, context, next) => {
      if (name.includes('opentelemetry') || name.includes('own-traces/')) writeSync(2, 'loads ' + name + '\\n');
      return next(name, context);
    }`;
  const module = (source: string) => `data:text/javascript,${encodeURIComponent(source)}`;
  const NODE_OPTIONS = `--import=${module(`import { register } from 'node:module'; register(${JSON.stringify(module(SPY))})`)}`;

  it('loads nothing of OpenTelemetry', async () => {
    const programs = await Programs.make();
    try {
      const loaded = async (env: Readonly<Record<string, string>>) => {
        const program = await programs.start({ NODE_OPTIONS, ...env });
        program.signal('SIGTERM');
        await program.ended;
        return program.stderr;
      };
      const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1', OTEL_BSP_SCHEDULE_DELAY: '5000' };
      expect(await loaded({})).to.equal('');
      expect(await loaded({ ...endpoint, OTEL_SDK_DISABLED: 'true' })).to.equal('');
      expect(await loaded(endpoint)).to.include('loads @opentelemetry/sdk-trace');
    } finally {
      await programs.dispose();
    }
  });
});
