import { Client, credentials, Metadata, status, type ServiceError } from '@grpc/grpc-js';
import { connect as http2Connect } from 'node:http2';
import { expect } from 'chai';
import protobuf from 'protobufjs';
import { EXPORT_PATH } from '../../src/otlp/grpc/trace-service.js';
import type { TestServer } from '../harness/server.js';
import { request, ResponseType, StatusType, toProtobuf } from './requests.js';

export interface Reply {
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
export function rawCall({ grpcPort, key }: TestServer) {
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
export function stalledCall(server: TestServer, announcedBytes: number, sentBytes: number) {
  const { session, stream } = rawCall(server);
  const prefix = Buffer.alloc(5);
  prefix.writeUInt32BE(announcedBytes, 1);
  stream.write(Buffer.concat([prefix, Buffer.alloc(sentBytes)]));
  const answered = new Promise<number>((resolve) =>
    stream.on('response', (headers) => resolve(Number(headers['grpc-status']))),
  );
  return { session, answered };
}

export function keyed(key: string | null): Metadata {
  const metadata = new Metadata();
  if (key !== null) metadata.set('authorization', `Bearer ${key}`);
  return metadata;
}

export const asIs = (bytes: Buffer) => bytes;

export const message = (...spans: Record<string, unknown>[]) => Buffer.from(toProtobuf(request(spans)));

/** An OTLP exporter over gRPC, with the key of the server. */
export class GrpcExporter {
  readonly client: Client;
  readonly #server: TestServer;

  constructor(server: TestServer) {
    this.#server = server;
    this.client = new Client(`127.0.0.1:${server.grpcPort}`, credentials.createInsecure());
  }

  send(message: Buffer, metadata = keyed(this.#server.key), path = EXPORT_PATH): Promise<Reply> {
    const deadline = Date.now() + 60_000;
    return new Promise((resolve) => {
      this.client.makeUnaryRequest(path, asIs, asIs, message, metadata, { deadline }, (error, bytes) => {
        if (error === null) {
          const response = ResponseType.decode(bytes!).toJSON() as Reply['response'];
          resolve({ code: status.OK, details: '', response, retryAfter: null });
        } else {
          resolve({ code: error.code, details: error.details, response: {}, retryAfter: retryAfterOf(error) });
        }
      });
    });
  }

  close(): void {
    this.client.close();
  }
}
