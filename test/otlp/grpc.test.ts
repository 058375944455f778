import { Client, credentials, status } from '@grpc/grpc-js';
import { expect } from 'chai';
import { EXPORT_PATH } from '../../src/otlp/grpc/trace-service.js';
import { bootServer, type TestServer } from '../harness/server.js';
import { asIs, GrpcExporter, keyed, message, type Reply } from './grpc-exporter.js';
import { attributes, otlpSpan, spanId, TRACE_UUID } from './requests.js';

describe('OTLP over gRPC', () => {
  let server: TestServer;
  let exporter: GrpcExporter;

  before(async () => {
    server = await bootServer({
      env: { OTLP_GRPC_PORT: '0', MAX_BODY_MB: '1' },
    });
    exporter = new GrpcExporter(server);
  });
  after(async () => {
    exporter.close();
    await server.dispose();
  });

  it('stores spans, once, however often they are sent', async () => {
    const body = message(otlpSpan(), otlpSpan({ spanId: spanId(2), parentSpanId: spanId(1) }));
    for (let time = 0; time < 3; time += 1) {
      const { code, response } = await exporter.send(body);
      expect(code).to.equal(status.OK);
      expect(response).to.deep.equal({});
    }
    const { json } = await server.request('GET', `/traces?id=${TRACE_UUID}`);
    expect(json[0]).to.include({ span_count: 2 });
  });

  it('counts and names the spans it cannot use', async () => {
    const { code, response } = await exporter.send(message(otlpSpan(), otlpSpan({ spanId: spanId(0) })));
    expect(code).to.equal(status.OK);
    expect(Number(response.partialSuccess?.rejectedSpans)).to.equal(1);
    expect(response.partialSuccess?.errorMessage).to.match(/span 1 .*span_id must not be all zero/);
  });

  it('takes an empty request', async () => {
    expect((await exporter.send(Buffer.alloc(0))).code).to.equal(status.OK);
  });

  it('refuses callers without a valid key before it reads their message, and does not ask them to come again', async () => {
    for (const metadata of [keyed(null), keyed('sk_sh_unknown')]) {
      const { code, details, retryAfter } = await exporter.send(message(otlpSpan()), metadata);
      expect({ code, retryAfter }).to.deep.equal({ code: status.UNAUTHENTICATED, retryAfter: null });
      expect(details).to.match(/key/);
    }
    const call = exporter.client.makeClientStreamRequest(EXPORT_PATH, asIs, asIs, keyed(null), () => undefined);
    const { code } = await new Promise<{ code: status }>((resolve) => call.on('status', resolve));
    expect(code, 'without a message').to.equal(status.UNAUTHENTICATED);
  });

  it('refuses a key that may only read, and takes one that may only send spans', async () => {
    const sentWith = async (access: string) => {
      const body = { name: access, access };
      const { json } = await server.request('POST', `/projects/${server.projectId}/api-keys`, { body });
      return (await exporter.send(message(otlpSpan()), keyed(json.key))).code;
    };
    expect(await sentWith('read')).to.equal(status.PERMISSION_DENIED);
    expect(await sentWith('ingest')).to.equal(status.OK);
  });

  it('refuses what is no OTLP, too large, and other methods', async () => {
    const cases: readonly (readonly [Promise<Reply>, status])[] = [
      [exporter.send(Buffer.from('no OTLP at all')), status.INVALID_ARGUMENT],
      [
        exporter.send(message(otlpSpan({ attributes: attributes({ text: 'x'.repeat(1_100_000) }) }))),
        status.RESOURCE_EXHAUSTED,
      ],
      [
        exporter.send(message(), keyed(server.key), '/opentelemetry.proto.collector.logs.v1.LogsService/Export'),
        status.UNIMPLEMENTED,
      ],
    ];
    for (const [asked, code] of cases) {
      const reply = await asked;
      expect(reply.code).to.equal(code);
      expect(reply.retryAfter, 'final').to.equal(null);
      expect(reply.details).to.not.equal('');
    }
  });

  it('counts calls by method and status', async () => {
    await exporter.send(message(otlpSpan()));
    const { text } = await server.request('GET', '/metrics', { key: null });
    expect(text).to.match(/^rpc_duration_seconds_count\{[^}]*TraceService\/Export"[^}]*code="OK"[^}]*\} \d+/m);
  });

  it('answers what is in work when it is stopped, takes nothing after, and keeps what it acknowledged', async () => {
    const first = await bootServer({ env: { OTLP_GRPC_PORT: '0' } });
    const one = new Client(`127.0.0.1:${first.grpcPort}`, credentials.createInsecure());
    const call = (n: number) =>
      new Promise<status>((resolve) => {
        const deadline = Date.now() + 60_000;
        const body = message(otlpSpan({ spanId: spanId(n) }));
        one
          .makeUnaryRequest(EXPORT_PATH, asIs, asIs, body, keyed(first.key), { deadline }, () => undefined)
          .on('status', ({ code }) => resolve(code));
      });
    expect(await call(1)).to.equal(status.OK);
    const inWork = [2, 3, 4, 5, 6].map(call);
    await new Promise((resolve) => setTimeout(resolve, 5));
    await first.stop();
    const codes = await Promise.all(inWork);
    expect(codes).to.satisfy((all: status[]) => all.every((code) => code === status.OK || code === status.UNAVAILABLE));
    expect(await call(7)).to.equal(status.UNAVAILABLE);
    one.close();

    const again = await bootServer({ dataDir: first.dataDir });
    try {
      const { json } = await again.request('GET', `/spans?trace_id=${TRACE_UUID}`);
      expect(json).to.have.length(1 + codes.filter((code) => code === status.OK).length);
    } finally {
      await again.dispose();
    }
  });

  it('is off unless a port is configured, and says so when the port is taken', async () => {
    const without = await bootServer();
    expect(without.grpcPort).to.equal(null);
    await without.dispose();
    const failed = await bootServer({ env: { OTLP_GRPC_PORT: String(server.grpcPort) } }).catch(
      (error: unknown) => error,
    );
    expect(failed).to.be.instanceOf(Error);
    expect((failed as Error).message).to.match(/gRPC cannot listen on 127\.0\.0\.1:\d+: .*EADDRINUSE/);
  });
});
