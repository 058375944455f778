import { isIPv6 } from 'node:net';
import { logVerbosity, Server, ServerCredentials, setLogVerbosity } from '@grpc/grpc-js';
import { DomainError } from '../../domain/errors.js';
import type { RpcObserver } from '../../observability/events/requests.js';
import { createAdmission } from './admission.js';
import { createTraceService, traceServiceDefinition, type TraceServiceParts } from './trace-service.js';

export interface GrpcOptions extends TraceServiceParts {
  readonly host: string;
  /** 0: any free one. */
  readonly port: number;
  /** Of one message, as sent and after decompression. */
  readonly maxMessageBytes: number;
  readonly readTimeoutMs: number;
  readonly observer: RpcObserver;
}

export interface GrpcListener {
  /** The port listened on. */
  readonly port: number;
  /** Takes no new calls, lets those in work finish; after the deadline cuts them off. */
  stop(deadlineMs: number): Promise<void>;
}

/** Each may hold one message while it arrives, which nobody can count before it is there. Exporters have a few at once. */
const MAX_CALLS = 64;
const MAX_CALLS_OF_A_CONNECTION = 32;
/** A peer that is gone without a word is found out by pings. */
const KEEPALIVE_MS = 60_000;
const KEEPALIVE_TIMEOUT_MS = 20_000;

/** Listens for OTLP over gRPC, in clear text: TLS ends at a proxy. @throws DomainError `conflict` when it cannot listen */
export async function listenGrpc(options: GrpcOptions): Promise<GrpcListener> {
  const { host, maxMessageBytes } = options;
  // What goes wrong is thrown or observed; the library's own lines would bypass the log.
  setLogVerbosity(logVerbosity.NONE);
  const admission = createAdmission({ ...options, maxCalls: MAX_CALLS });
  const server = new Server({
    interceptors: [admission],
    'grpc.max_receive_message_length': maxMessageBytes,
    'grpc.max_concurrent_streams': MAX_CALLS_OF_A_CONNECTION,
    'grpc.keepalive_time_ms': KEEPALIVE_MS,
    'grpc.keepalive_timeout_ms': KEEPALIVE_TIMEOUT_MS,
    'grpc.enable_channelz': 0,
  });
  server.addService(traceServiceDefinition, { ...createTraceService(options) });
  const port = await bind(server, `${isIPv6(host) ? `[${host}]` : host}:${options.port}`);
  return { port, stop: (deadlineMs) => stop(server, deadlineMs) };
}

function bind(server: Server, address: string): Promise<number> {
  return new Promise((resolve, reject) => {
    server.bindAsync(address, ServerCredentials.createInsecure(), (error, port) => {
      if (error === null) resolve(port);
      else reject(new DomainError('conflict', `gRPC cannot listen on ${address}: ${error.message}`, { cause: error }));
    });
  });
}

function stop(server: Server, deadlineMs: number): Promise<void> {
  return new Promise((resolve) => {
    const deadline = setTimeout(() => server.forceShutdown(), deadlineMs);
    server.tryShutdown(() => {
      clearTimeout(deadline);
      resolve();
    });
  });
}
