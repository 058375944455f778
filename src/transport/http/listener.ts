import { createServer, STATUS_CODES, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { randomUUID } from 'node:crypto';
import { ProtocolError, toProblem } from './errors.js';

export interface ListenerOptions {
  readonly host: string;
  /** 0: any free one. */
  readonly port: number;
  /** A whole request, headers and body, must be there within this time. */
  readonly requestTimeoutMs: number;
}

export interface Listener {
  /** The port listened on. */
  readonly port: number;
  /** Takes no new connections, closes idle ones, lets requests in work finish; after the deadline cuts them off. */
  stop(deadlineMs: number): Promise<void>;
}

const HEADERS_TIMEOUT_MS = 15_000;
/** Longer than the 60 s after which common load balancers drop idle connections, so that they do it first. */
const KEEP_ALIVE_MS = 65_000;

/** @throws Error with `code` such as `EADDRINUSE` */
export async function listen(app: RequestListener, options: ListenerOptions): Promise<Listener> {
  const server = createServer({
    headersTimeout: Math.min(HEADERS_TIMEOUT_MS, options.requestTimeoutMs),
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
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port, options.host, () => {
      server.off('error', reject);
      resolve();
    });
  });

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

/** What is no HTTP, or came too slowly, never reaches the app; it is answered in the same form all the same. */
function answerBrokenRequest(error: Error & { code?: string }, socket: Duplex & { bytesWritten?: number }): void {
  if (!socket.writable || error.code === 'ECONNRESET') {
    socket.destroy();
    return;
  }
  const { problem } = toProblem(protocolErrorOf(error.code), randomUUID());
  const content = JSON.stringify(problem);
  const lines = [
    `HTTP/1.1 ${problem.status} ${STATUS_CODES[problem.status] ?? ''}`,
    'Content-Type: application/problem+json',
    `Content-Length: ${Buffer.byteLength(content)}`,
    `X-Request-Id: ${problem.request_id}`,
    'Connection: close',
  ];
  socket.end(`${lines.join('\r\n')}\r\n\r\n${content}`, () => socket.destroy());
}

function protocolErrorOf(code: string | undefined): ProtocolError {
  if (code === 'HPE_HEADER_OVERFLOW') return new ProtocolError(431, 'The headers must have at most 16 KiB together');
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return new ProtocolError(408, 'The request did not arrive in time');
  return new ProtocolError(400, 'This is not a valid HTTP request');
}
