import { createServer, STATUS_CODES, type RequestListener, type Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { randomUUID } from 'node:crypto';
import { DomainError } from '../engine/errors.js';
import { Connections, ignoreFailedAccept } from './wire/connections.js';
import { ProtocolError, toProblem } from './errors.js';

export interface ListenerOptions {
  readonly host: string;
  /** 0: any free one. */
  readonly port: number;
  /** The headers of a request must be there within this time. */
  readonly headersTimeoutMs: number;
  /** A whole request, headers and body, must be there within this time. */
  readonly requestTimeoutMs: number;
  /** Open at once; one client has at most as many as are left free. */
  readonly maxConnections: number;
}

export interface Listener {
  /** The port listened on. */
  readonly port: number;
  /** Takes no new connections, closes idle ones, lets requests in work finish; after the deadline cuts them off. */
  stop(deadlineMs: number): Promise<void>;
}

/** Longer than the 60 s after which common load balancers drop idle connections, so that they do it first. */
const KEEP_ALIVE_MS = 65_000;

/** @throws Error with `code` such as `EADDRINUSE` */
export async function listen(app: RequestListener, options: ListenerOptions): Promise<Listener> {
  const server = createServer({
    headersTimeout: Math.min(options.headersTimeoutMs, options.requestTimeoutMs),
    requestTimeout: options.requestTimeoutMs,
    keepAliveTimeout: KEEP_ALIVE_MS,
    connectionsCheckingInterval: 1_000,
    noDelay: true,
  });
  let stopping = false;
  const handle: RequestListener = (request, response) => {
    if (stopping) response.setHeader('Connection', 'close');
    app(request, response);
  };
  server.on('request', handle);
  // Not answered by Node: a body that is refused anyway is then never sent.
  server.on('checkContinue', handle);
  server.on('clientError', answerBrokenRequest);
  boundConnections(server, options.maxConnections);
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port, options.host, () => {
      server.off('error', reject);
      resolve();
    });
  });

  server.on('error', ignoreFailedAccept);

  return {
    port: (server.address() as AddressInfo).port,
    async stop(deadlineMs) {
      stopping = true;
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      const idle = setInterval(() => server.closeIdleConnections(), 50);
      const deadline = setTimeout(() => server.closeAllConnections(), deadlineMs);
      await closed;
      clearInterval(idle);
      clearTimeout(deadline);
    },
  };
}

/** Connections beyond the limit that are told so; beyond these, they are only closed. */
const TOLD_AT_ONCE = 64;
const TOLD_WITHIN_MS = 1_000;

/** One too many never reaches HTTP. */
function boundConnections(server: Server, maxConnections: number): void {
  const connections = new Connections(maxConnections);
  const accepting = server.listeners('connection') as ((socket: Socket) => void)[];
  server.removeAllListeners('connection');
  server.on('connection', (socket) => {
    if (connections.admit(socket)) for (const accept of accepting) accept.call(server, socket);
    else refuseConnection(socket);
  });
  server.maxConnections = maxConnections + TOLD_AT_ONCE;
}

function refuseConnection(socket: Socket): void {
  const timer = setTimeout(() => socket.destroy(), TOLD_WITHIN_MS);
  socket.once('close', () => clearTimeout(timer));
  socket.on('error', () => socket.destroy());
  // A connection closed before its request was read would take the answer with it.
  socket.once('data', () => {
    socket.resume();
    const error = new DomainError('unavailable', 'Too many open connections. Retry later.', { retryAfterSeconds: 1 });
    answerRaw(socket, error, () => undefined);
  });
}

/** Answers a request that is no HTTP or came too slowly: it never reaches the app, but gets an error of the same form. */
function answerBrokenRequest(error: Error & { code?: string }, socket: Duplex): void {
  if (!socket.writable || error.code === 'ECONNRESET') socket.destroy();
  else answerRaw(socket, protocolErrorOf(error.code), () => socket.destroy());
}

function answerRaw(socket: Duplex, error: Error, sent: () => void): void {
  const { problem, headers } = toProblem(error, randomUUID());
  const content = JSON.stringify(problem);
  const lines = [
    `HTTP/1.1 ${problem.status} ${STATUS_CODES[problem.status] ?? ''}`,
    'Content-Type: application/problem+json',
    `Content-Length: ${Buffer.byteLength(content)}`,
    `X-Request-Id: ${problem.request_id}`,
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    'Connection: close',
  ];
  socket.end(`${lines.join('\r\n')}\r\n\r\n${content}`, sent);
}

function protocolErrorOf(code: string | undefined): ProtocolError {
  if (code === 'HPE_HEADER_OVERFLOW') return new ProtocolError(431, 'The headers must have at most 16 KiB in total');
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return new ProtocolError(408, 'The request did not arrive in time');
  return new ProtocolError(400, 'This is not a valid HTTP request');
}
