import { Client, compressionAlgorithms, credentials, Metadata, status, type ServiceError } from '@grpc/grpc-js';
import { connect as http2Connect } from 'node:http2';
import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import protobuf from 'protobufjs';
import { EXPORT_PATH } from '../../src/transport/grpc/trace-service.js';
import { unhurried } from '../harness/program.js';
import { bootServer, type TestServer } from '../harness/server.js';
import { secondProject } from '../prompts/prompt-api.js';
import { attributes, otlpSpan, request, ResponseType, spanId, StatusType, toProtobuf, TRACE_UUID } from './requests.js';

interface Reply {
  readonly code: status;
  readonly details: string;
  readonly response: { readonly partialSuccess?: { readonly rejectedSpans: unknown; readonly errorMessage: string } };
  /** Seconds after which to send again, from google.rpc.RetryInfo; null without one. */
  readonly retryAfter: number | null;
}

const { root } = protobuf.parse(`syntax = "proto3";
  message Duration { int64 seconds = 1; int32 nanos = 2; }
  message RetryInfo { Duration retry_delay = 1; }
`);
const RetryInfo = root.lookupType('RetryInfo');

function retryAfterOf(error: ServiceError): number | null {
  const [bytes] = error.metadata.get('grpc-status-details-bin');
  if (bytes === undefined) return null;
  const decoded = StatusType.toObject(StatusType.decode(bytes as Buffer)) as {
    code: number;
    details: { type_url?: string; typeUrl?: string; value: Uint8Array }[];
  };
  expect(decoded.code).to.equal(error.code);
  const [detail] = decoded.details;
  expect(detail?.type_url ?? detail?.typeUrl).to.equal('type.googleapis.com/google.rpc.RetryInfo');
  const info = RetryInfo.toObject(RetryInfo.decode(detail!.value), { longs: Number }) as {
    retryDelay: { seconds: number };
  };
  return info.retryDelay.seconds;
}

/** A call whose message is written by hand. */
function rawCall({ grpcPort, key }: TestServer) {
  const session = http2Connect(`http://127.0.0.1:${grpcPort}`);
  session.on('error', () => undefined);
  const stream = session.request({
    ':method': 'POST',
    ':path': EXPORT_PATH,
    'content-type': 'application/grpc',
    'grpc-encoding': 'gzip',
    te: 'trailers',
    authorization: `Bearer ${key}`,
  });
  stream.on('error', () => undefined);
  return { session, stream };
}

/** A call whose message is announced, sent in part, and left so. */
function stalledCall(server: TestServer, announcedBytes: number, sentBytes: number) {
  const { session, stream } = rawCall(server);
  const prefix = Buffer.alloc(5);
  prefix.writeUInt32BE(announcedBytes, 1);
  stream.write(Buffer.concat([prefix, Buffer.alloc(sentBytes)]));
  const answered = new Promise<number>((resolve) =>
    stream.on('response', (headers) => resolve(Number(headers['grpc-status']))),
  );
  return { session, answered };
}

/** Long enough for every whole message, also while other tests run. */
const BODY_TIMEOUT_SECONDS = Math.ceil(unhurried(1_000) / 1000);
const BODY_TIMEOUT_MS = BODY_TIMEOUT_SECONDS * 1000;

describe('OTLP over gRPC', () => {
  let server: TestServer;
  let client: Client;

  before(async () => {
    server = await bootServer({
      env: {
        OTLP_GRPC_PORT: '0',
        MAX_BODY_MB: '1',
        BODY_MEMORY_MB: '4',
        QUEUE_MAX_MB: '1',
        UPLOAD_TIMEOUT_SECONDS: String(BODY_TIMEOUT_SECONDS),
      },
    });
    client = new Client(`127.0.0.1:${server.grpcPort}`, credentials.createInsecure());
  });
  after(async () => {
    client.close();
    await server.dispose();
  });

  const keyed = (key: string | null): Metadata => {
    const metadata = new Metadata();
    if (key !== null) metadata.set('authorization', `Bearer ${key}`);
    return metadata;
  };
  const asIs = (bytes: Buffer) => bytes;

  function send(message: Buffer, metadata = keyed(server.key), path = EXPORT_PATH): Promise<Reply> {
    const deadline = Date.now() + 20_000;
    return new Promise((resolve) => {
      client.makeUnaryRequest(path, asIs, asIs, message, metadata, { deadline }, (error, bytes) => {
        if (error === null) {
          const response = ResponseType.decode(bytes!).toJSON() as Reply['response'];
          resolve({ code: status.OK, details: '', response, retryAfter: null });
        } else {
          resolve({ code: error.code, details: error.details, response: {}, retryAfter: retryAfterOf(error) });
        }
      });
    });
  }
  const message = (...spans: Record<string, unknown>[]) => Buffer.from(toProtobuf(request(spans)));

  it('stores spans, once, however often they are sent', async () => {
    const body = message(otlpSpan(), otlpSpan({ spanId: spanId(2), parentSpanId: spanId(1) }));
    for (let time = 0; time < 3; time += 1) {
      const { code, response } = await send(body);
      expect(code).to.equal(status.OK);
      expect(response).to.deep.equal({});
    }
    const { json } = await server.request('GET', `/traces?id=${TRACE_UUID}`);
    expect(json[0]).to.include({ span_count: 2 });
  });

  it('counts and names the spans it cannot use', async () => {
    const { code, response } = await send(message(otlpSpan(), otlpSpan({ spanId: spanId(0) })));
    expect(code).to.equal(status.OK);
    expect(Number(response.partialSuccess?.rejectedSpans)).to.equal(1);
    expect(response.partialSuccess?.errorMessage).to.match(/span 1 .*span_id must not be all zero/);
  });

  it('takes an empty request', async () => {
    expect((await send(Buffer.alloc(0))).code).to.equal(status.OK);
  });

  it('refuses callers without a valid key before it reads their message, and does not ask them to come again', async () => {
    for (const metadata of [keyed(null), keyed('sk_sh_unknown')]) {
      const { code, details, retryAfter } = await send(message(otlpSpan()), metadata);
      expect({ code, retryAfter }).to.deep.equal({ code: status.UNAUTHENTICATED, retryAfter: null });
      expect(details).to.match(/key/);
    }
    const call = client.makeClientStreamRequest(EXPORT_PATH, asIs, asIs, keyed(null), () => undefined);
    const { code } = await new Promise<{ code: status }>((resolve) => call.on('status', resolve));
    expect(code, 'without a message').to.equal(status.UNAUTHENTICATED);
  });

  it('refuses a key that may only read, and takes one that may only send spans', async () => {
    const sentWith = async (access: string) => {
      const body = { name: access, access };
      const { json } = await server.request('POST', `/projects/${server.projectId}/api-keys`, { body });
      return (await send(message(otlpSpan()), keyed(json.key))).code;
    };
    expect(await sentWith('read')).to.equal(status.PERMISSION_DENIED);
    expect(await sentWith('ingest')).to.equal(status.OK);
  });

  it('refuses what is no OTLP, too large, and other methods', async () => {
    const cases: readonly (readonly [Promise<Reply>, status])[] = [
      [send(Buffer.from('no OTLP at all')), status.INVALID_ARGUMENT],
      [send(message(otlpSpan({ attributes: attributes({ text: 'x'.repeat(1_100_000) }) }))), status.RESOURCE_EXHAUSTED],
      [
        send(message(), keyed(server.key), '/opentelemetry.proto.collector.logs.v1.LogsService/Export'),
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

  it('holds a compressed message to the limit of what it unfolds to', async () => {
    const bomb = message(otlpSpan({ attributes: attributes({ text: 'x'.repeat(50_000_000) }) }));
    const gzip = new Client(`127.0.0.1:${server.grpcPort}`, credentials.createInsecure(), {
      'grpc.default_compression_algorithm': compressionAlgorithms.gzip,
      'grpc.max_send_message_length': -1,
    });
    try {
      const { code } = await new Promise<{ code: status }>((resolve) => {
        gzip
          .makeUnaryRequest(
            EXPORT_PATH,
            asIs,
            asIs,
            bomb,
            keyed(server.key),
            { deadline: Date.now() + 20_000 },
            () => undefined,
          )
          .on('status', resolve);
      });
      expect(code).to.equal(status.RESOURCE_EXHAUSTED);
    } finally {
      gzip.close();
    }
  });

  it('asks clients to come again, with RetryInfo, when more is waiting than the queue holds', async () => {
    const bodies = Array.from({ length: 24 }, (_, n) =>
      message(otlpSpan({ spanId: spanId(n + 100), attributes: attributes({ text: 'x'.repeat(300_000) }) })),
    );
    const replies = await Promise.all(bodies.map((body) => send(body)));
    const refused = replies.filter(({ code }) => code !== status.OK);
    expect(refused).to.not.have.length(0);
    for (const { code, retryAfter } of refused) {
      expect(code).to.equal(status.RESOURCE_EXHAUSTED);
      expect(retryAfter).to.be.at.least(1);
    }
    const { json } = await server.request('GET', `/spans?trace_id=${TRACE_UUID}`);
    const stored = (json as { attributes: { text?: string } }[]).filter(
      ({ attributes }) => attributes.text !== undefined,
    );
    expect(stored).to.have.length(24 - refused.length);
  });

  it('gives up on a message that does not arrive', async () => {
    const since = Date.now();
    const call = client.makeClientStreamRequest(EXPORT_PATH, asIs, asIs, keyed(server.key), () => undefined);
    const { code } = await new Promise<{ code: status }>((resolve) => call.on('status', resolve));
    expect(code).to.equal(status.DEADLINE_EXCEEDED);
    expect(Date.now() - since).to.be.within(0.9 * BODY_TIMEOUT_MS, 5 * BODY_TIMEOUT_MS);
  });

  it('counts messages while they arrive, and leaves room for other keys', async () => {
    const other = keyed(secondProject(server).key);
    // Of 4 MB, one key may have half.
    const stall = () => stalledCall(server, 1_000_000, 900_000);
    const calls = [stall(), stall(), stall(), stall()];
    try {
      const large = message(otlpSpan({ attributes: attributes({ text: 'x'.repeat(400_000) }) }));
      expect(await Promise.race(calls.map(({ answered }) => answered))).to.equal(status.RESOURCE_EXHAUSTED);
      expect((await send(large, other)).code, 'of another key').to.equal(status.OK);
      const codes = await Promise.all(calls.map(({ answered }) => answered));
      expect(codes.sort((a, b) => a - b)).to.deep.equal([4, 4, 8, 8]);
      expect((await send(large)).code, 'once they were given up').to.equal(status.OK);
    } finally {
      for (const { session } of calls) session.destroy();
    }
  });

  it('has so many calls in work, and leaves room for other keys', async () => {
    const small = await bootServer({ env: { OTLP_GRPC_PORT: '0', OTLP_GRPC_CALLS_AT_ONCE: '4' } });
    const other = secondProject(small).key;
    const calls = Array.from({ length: 3 }, () => stalledCall(small, 100, 1));
    try {
      expect(await Promise.race(calls.map(({ answered }) => answered))).to.equal(status.RESOURCE_EXHAUSTED);
      const stranger = new Client(`127.0.0.1:${small.grpcPort}`, credentials.createInsecure());
      const code = await new Promise((resolve) => {
        const answered = (error: ServiceError | null) => resolve(error?.code ?? status.OK);
        stranger.makeUnaryRequest(EXPORT_PATH, asIs, asIs, message(otlpSpan()), keyed(other), answered);
      });
      stranger.close();
      expect(code).to.equal(status.OK);
    } finally {
      for (const { session } of calls) session.destroy();
      await small.dispose();
    }
  });

  it('counts nothing any more of a message whose call ends while it unfolds', async () => {
    const folded = gzipSync(message(otlpSpan({ attributes: attributes({ text: 'x'.repeat(900_000) }) })));
    for (let round = 0; round < 40; round += 1) {
      const { session, stream } = rawCall(server);
      const prefix = Buffer.alloc(5);
      prefix.writeUInt8(1, 0);
      prefix.writeUInt32BE(folded.length, 1);
      stream.end(Buffer.concat([prefix, folded]));
      await sleep(round % 8);
      stream.close(8);
      await sleep(1);
      session.destroy();
    }
    await sleep(200);
    const large = message(otlpSpan({ attributes: attributes({ text: 'x'.repeat(900_000) }) }));
    expect((await send(large)).code).to.equal(status.OK);
  });

  it('counts what a message unfolds to, and takes one that fits', async () => {
    const compressed = (text: string) => {
      const bytes = gzipSync(message(otlpSpan({ spanId: spanId(77), attributes: attributes({ text }) })));
      const prefix = Buffer.from([1, 0, 0, 0, 0]);
      prefix.writeUInt32BE(bytes.length, 1);
      return Buffer.concat([prefix, bytes]);
    };
    for (const [text, code] of [
      ['fits', status.OK],
      ['x'.repeat(20_000_000), status.RESOURCE_EXHAUSTED],
    ] as const) {
      const { session, stream } = rawCall(server);
      const answered = new Promise<number>((resolve) => {
        for (const event of ['response', 'trailers'] as const)
          stream.on(event, (headers: Record<string, unknown>) => {
            if (headers['grpc-status'] !== undefined) resolve(Number(headers['grpc-status']));
          });
      });
      stream.resume();
      stream.end(compressed(text));
      expect(await answered).to.equal(code);
      session.destroy();
    }
    const { json } = await server.request('GET', `/spans?trace_id=${TRACE_UUID}`);
    expect((json as { attributes: { text?: string } }[]).map(({ attributes: { text } }) => text)).to.include('fits');
  });

  it('counts calls by method and status', async () => {
    await send(message(otlpSpan()));
    const { text } = await server.request('GET', '/metrics', { key: null });
    expect(text).to.match(/^rpc_duration_seconds_count\{[^}]*TraceService\/Export"[^}]*code="OK"[^}]*\} \d+/m);
  });

  it('answers what is in work when it is stopped, takes nothing after, and keeps what it acknowledged', async () => {
    const first = await bootServer({ env: { OTLP_GRPC_PORT: '0' } });
    const one = new Client(`127.0.0.1:${first.grpcPort}`, credentials.createInsecure());
    const call = (n: number) =>
      new Promise<status>((resolve) => {
        const deadline = Date.now() + 5_000;
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
