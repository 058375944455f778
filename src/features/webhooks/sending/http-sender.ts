import { request as requestHttp, type IncomingMessage } from 'node:http';
import { request as requestHttps } from 'node:https';
import { publicAgents } from '../../../engine/work/public-agents.js';
import { responseOf } from '../../../engine/work/response-of.js';
import type { Rendered } from '../render.js';

export interface HttpSenderOptions {
  /** Private addresses that may be reached, also as ranges (CIDR). */
  readonly allowedAddresses: readonly string[];
}

const DEADLINE_MS = 10_000;
/** Of a response, so much is kept; it may be larger. */
const MAX_RESPONSE = 200;
const MAX_READ = 4_096;

/**
 * Posts to addresses that clients name. Private, loopback, link-local and other special addresses are refused by what the name
 * resolves to, for the very connection that is made. Redirects are not followed, and of a response only its beginning is read.
 */
export function createHttpSender({ allowedAddresses }: HttpSenderOptions) {
  const agents = publicAgents(allowedAddresses);

  return async (target: string, { headers, body }: Rendered, closing: AbortSignal) => {
    const url = new URL(target);
    const deadline = AbortSignal.timeout(DEADLINE_MS);
    const signal = AbortSignal.any([deadline, closing]);
    try {
      const response = await post(url, { headers, body }, signal);
      return { status: response.statusCode ?? null, response: await beginningOf(response) };
    } catch (error) {
      throw new Error(reasonOf(error, deadline.aborted), { cause: error });
    }
  };

  function post(url: URL, { headers, body }: Rendered, signal: AbortSignal): Promise<IncomingMessage> {
    const options = {
      method: 'POST',
      signal,
      maxHeaderSize: 16_384,
      headers: { ...headers, 'content-length': String(Buffer.byteLength(body)), 'accept-encoding': 'identity' },
    };
    const request =
      url.protocol === 'https:'
        ? requestHttps(url, { ...options, agent: agents.https })
        : requestHttp(url, { ...options, agent: agents.http });
    return responseOf(request, signal, body);
  }
}

/** The status is what counts: a response that breaks off, or never ends, has one, too. */
async function beginningOf(response: IncomingMessage): Promise<string | null> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of response as AsyncIterable<Buffer>) {
      chunks.push(chunk);
      bytes += chunk.length;
      if (bytes >= MAX_READ) break;
    }
  } catch {
    // What came before is kept.
  } finally {
    response.destroy();
  }
  const text = Buffer.concat(chunks)
    .toString('utf8')
    .replace(/[\u0000-\u001f\u007f]+/g, ' ')
    .trim();
  return text === '' ? null : text.slice(0, MAX_RESPONSE).toWellFormed();
}

/** Without what the error of a library says of the network of the server. */
function reasonOf(error: unknown, isLate: boolean): string {
  if (isLate) return `The destination did not respond within ${DEADLINE_MS / 1000} s`;
  const { message = '', code = '' } = error as { readonly message?: string; readonly code?: string };
  if (message.includes('is not allowed'))
    return 'The destination has a private address, which this server does not call';
  if (message.startsWith('answered ')) return `The destination ${message}`;
  const known: Readonly<Record<string, string>> = {
    ENOTFOUND: 'The name of the destination does not resolve',
    EAI_AGAIN: 'The name of the destination does not resolve',
    ECONNREFUSED: 'The destination refused the connection',
    ECONNRESET: 'The destination closed the connection',
    HPE_HEADER_OVERFLOW: 'The response has too large headers',
  };
  return known[code] ?? 'The destination could not be reached';
}
