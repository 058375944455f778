import type { IncomingMessage } from 'node:http';

/** The other end of a request's connection: the client, or the last proxy before us. Empty when it is gone already. */
export function remoteAddressOf(request: IncomingMessage): string {
  return request.socket.remoteAddress ?? '';
}
