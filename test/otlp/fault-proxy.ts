import { createServer, request as forward, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/**
 * What happens to one request: `unavailable` is answered 503 and never reaches the server; `lost request` is cut off
 * before it reaches the server; `lost answer` is stored by the server, whose answer the client never sees.
 */
export type Fault = 'unavailable' | 'lost request' | 'lost answer';

export interface FaultProxy {
  readonly url: string;
  /** Faults of the next requests, in order; after them everything passes. */
  next(...faults: Fault[]): void;
  /** How many requests came in since the last call of `next`. */
  readonly requests: number;
  stop(): Promise<void>;
}

/** An HTTP proxy in front of a server that breaks requests as told. */
export async function startFaultProxy(target: string): Promise<FaultProxy> {
  const faults: Fault[] = [];
  let requests = 0;
  const server = createServer((request, response) => {
    requests += 1;
    void handle(request, response, target, faults.shift());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    next(...wanted) {
      faults.splice(0, faults.length, ...wanted);
      requests = 0;
    },
    get requests() {
      return requests;
    },
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function handle(
  request: IncomingMessage,
  response: ServerResponse,
  target: string,
  fault?: Fault,
): Promise<void> {
  const body = await bytesOf(request);
  if (fault === 'lost request') {
    request.socket.resetAndDestroy();
    return;
  }
  if (fault === 'unavailable') {
    response.writeHead(503, { 'Retry-After': '1' }).end();
    return;
  }
  const passed = forward(target + (request.url ?? ''), { method: request.method, headers: request.headers });
  passed.end(body);
  const answer = await new Promise<IncomingMessage>((resolve, reject) =>
    passed.once('response', resolve).once('error', reject),
  );
  const content = await bytesOf(answer);
  if (fault === 'lost answer') request.socket.resetAndDestroy();
  else response.writeHead(answer.statusCode ?? 500, answer.headers).end(content);
}

async function bytesOf(message: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of message) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}
