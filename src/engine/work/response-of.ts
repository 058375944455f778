import type { ClientRequest, IncomingMessage } from 'node:http';
import { unlessAborted } from './unless-aborted.js';

/**
 * Sends a request to a host that is not trusted. It always settles: Node tells nothing of a response that switches the protocol
 * unasked, and nothing of a signal that aborts from then on.
 * @throws the signal's reason; what the request fails with
 */
export function responseOf(request: ClientRequest, signal: AbortSignal, body?: string): Promise<IncomingMessage> {
  const response = new Promise<IncomingMessage>((resolve, reject) => {
    request
      .once('response', resolve)
      .once('upgrade', ({ statusCode = 0 }, socket) => {
        socket.destroy();
        reject(new Error(`answered ${statusCode}`));
      })
      .once('close', () => reject(new Error('the connection was closed')))
      .on('error', reject)
      .end(body);
  });
  return unlessAborted(response, signal);
}
