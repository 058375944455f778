import { createServer, isIPv6, type AddressInfo, type Server as NetServer } from 'node:net';
import { logVerbosity, Server, ServerCredentials, setLogVerbosity } from '@grpc/grpc-js';
import { DomainError } from '../../engine/errors.js';
import { Connections, ignoreFailedAccept } from '../../http/wire/connections.js';
import { createAdmission, type AdmissionOptions } from './admission.js';
import { createTraceService, traceServiceDefinition, type TraceServiceParts } from './trace-service.js';
import type { Signals } from '../../engine/signals/signals.js';

export interface GrpcOptions extends TraceServiceParts, Pick<AdmissionOptions, 'memory' | 'limits' | 'maxCalls'> {
  readonly host: string;
  /** 0: any free one. */
  readonly port: number;
  /** Open at once; one client has at most as many as are left free. More are closed. */
  readonly maxConnections: number;
  readonly observer: Pick<Signals, 'rpcFinished' | 'rpcFailed' | 'tracing'>;
}

export interface GrpcListener {
  /** The port listened on. */
  readonly port: number;
  /** Takes no new calls, lets those in work finish; after the deadline cuts them off. */
  stop(deadlineMs: number): Promise<void>;
}

/** A peer that is gone without a word is found out by pings. */
const KEEPALIVE_MS = 60_000;
const KEEPALIVE_TIMEOUT_MS = 20_000;

/** Listens for OTLP over gRPC, in clear text: TLS ends at a proxy. @throws DomainError `conflict` when it cannot listen */
export async function listenGrpc(options: GrpcOptions): Promise<GrpcListener> {
  // Failures are thrown or observed here; the library's own lines would bypass the log.
  setLogVerbosity(logVerbosity.NONE);
  const admission = createAdmission(options);
  const server = new Server({
    interceptors: [admission],
    'grpc.max_receive_message_length': options.limits.maxBodyBytes,
    'grpc.max_concurrent_streams': Math.floor(options.maxCalls / 2),
    'grpc.keepalive_time_ms': KEEPALIVE_MS,
    'grpc.keepalive_timeout_ms': KEEPALIVE_TIMEOUT_MS,
    'grpc.enable_channelz': 0,
  });
  server.addService(traceServiceDefinition, { ...createTraceService(options) });
  const { injectConnection } = server.createConnectionInjector(ServerCredentials.createInsecure());
  const connections = new Connections(options.maxConnections);
  const sockets = createServer({ noDelay: true }, (socket) => {
    if (connections.admit(socket)) injectConnection(socket);
    else socket.destroy();
  });
  const port = await bind(sockets, options.host, options.port);
  return {
    port,
    stop: (deadlineMs) => {
      sockets.close();
      return stop(server, deadlineMs);
    },
  };
}

function bind(sockets: NetServer, host: string, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    sockets.once('error', (cause) => {
      const address = `${isIPv6(host) ? `[${host}]` : host}:${port}`;
      reject(new DomainError('conflict', `gRPC cannot listen on ${address}: ${cause.message}`, { cause }));
    });
    sockets.listen(port, host, () => {
      sockets.on('error', ignoreFailedAccept);
      resolve((sockets.address() as AddressInfo).port);
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
