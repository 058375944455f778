import { pbkdf2 } from 'node:crypto';
import { promisify } from 'node:util';
import { Client, compressionAlgorithms, credentials, status, type ServiceError } from '@grpc/grpc-js';
import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { EXPORT_PATH } from '../../src/otlp/grpc/trace-service.js';
import { unhurried } from '../harness/program.js';
import { bootServer, type TestServer } from '../harness/server.js';
import { secondProject } from '../prompts/prompt-api.js';
import { asIs, GrpcExporter, keyed, message, rawCall, stalledCall } from './grpc-exporter.js';
import { attributes, otlpSpan, spanId, TRACE_UUID } from './requests.js';

/** Long enough for every whole message, also while other tests run; after ten seconds an upload is too slow in any case. */
const BODY_TIMEOUT_SECONDS = Math.min(9, Math.ceil(unhurried(1_000) / 1000));
const BODY_TIMEOUT_MS = BODY_TIMEOUT_SECONDS * 1000;

/** Nothing is synced meanwhile: Node.js does that in these threads, and each has something else to do. */
async function holdSyncs(): Promise<void> {
  const threads = Number(process.env['UV_THREADPOOL_SIZE'] ?? 4);
  await Promise.all(Array.from({ length: threads }, () => promisify(pbkdf2)('', '', 400_000, 64, 'sha512')));
}

describe('limits of OTLP over gRPC', () => {
  let server: TestServer;
  let exporter: GrpcExporter;

  before(async () => {
    server = await bootServer({
      env: {
        OTLP_GRPC_PORT: '0',
        MAX_BODY_MB: '1',
        BODY_MEMORY_MB: '4',
        QUEUE_MAX_MB: '1',
      },
      limits: { uploadTimeoutMs: BODY_TIMEOUT_SECONDS * 1000 },
    });
    exporter = new GrpcExporter(server);
  });
  after(async () => {
    exporter.close();
    await server.dispose();
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
            { deadline: Date.now() + 60_000 },
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
    const [replies] = await Promise.all([Promise.all(bodies.map((body) => exporter.send(body))), holdSyncs()]);
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
    const call = exporter.client.makeClientStreamRequest(EXPORT_PATH, asIs, asIs, keyed(server.key), () => undefined);
    const { code } = await new Promise<{ code: status }>((resolve) => call.on('status', resolve));
    expect(code).to.equal(status.DEADLINE_EXCEEDED);
    expect(Date.now() - since).to.be.within(0.9 * BODY_TIMEOUT_MS, unhurried(5 * BODY_TIMEOUT_MS));
  });

  it('counts messages while they arrive, and leaves room for other keys', async () => {
    const other = keyed(secondProject(server).key);
    // Of 4 MB, one key may have half.
    const stall = () => stalledCall(server, 1_000_000, 900_000);
    const calls = [stall(), stall(), stall(), stall()];
    try {
      const large = message(otlpSpan({ attributes: attributes({ text: 'x'.repeat(400_000) }) }));
      expect(await Promise.race(calls.map(({ answered }) => answered))).to.equal(status.RESOURCE_EXHAUSTED);
      expect((await exporter.send(large, other)).code, 'of another key').to.equal(status.OK);
      const codes = await Promise.all(calls.map(({ answered }) => answered));
      expect(codes.sort((a, b) => a - b)).to.deep.equal([4, 4, 8, 8]);
      expect((await exporter.send(large)).code, 'once they were given up').to.equal(status.OK);
    } finally {
      for (const { session } of calls) session.destroy();
    }
  });

  it('has so many calls in work, and leaves room for other keys', async () => {
    const small = await bootServer({ env: { OTLP_GRPC_PORT: '0' }, limits: { grpcCallsAtOnce: 4 } });
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
    const large = message(otlpSpan({ attributes: attributes({ text: 'x'.repeat(900_000) }) }));
    // The server hears when it does that the last of them have ended; what stayed counted would stay so for good.
    const end = performance.now() + 60_000;
    let { code } = await exporter.send(large);
    while (code !== status.OK && performance.now() < end) {
      await sleep(50);
      ({ code } = await exporter.send(large));
    }
    expect(code).to.equal(status.OK);
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
});
