import { request as requestHttp, type IncomingMessage } from 'node:http';
import { request as requestHttps } from 'node:https';
import { imageOf, MAX_IMAGE_BYTES, type Image } from '../image.js';
import type { ImageSource } from '../intake.js';
import type { Signals } from '../../../engine/signals/signals.js';
import { publicAgents } from '../../../engine/work/public-agents.js';
import { responseOf } from '../../../engine/work/response-of.js';

export interface ImageFetcherOptions {
  /** Hosts that may be asked: `host` for the default ports, else `host:port`; lower case. */
  readonly hosts: readonly string[];
  /** Addresses that may be asked although they are not public; default: none. */
  readonly extraAddresses?: readonly string[];
  readonly observer: Pick<Signals, 'attachmentNotFetched'>;
}

const MAX_REDIRECTS = 3;
const DEADLINE_MS = 5_000;
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/**
 * Fetches images from listed hosts. Private, loopback, link-local and other special addresses are refused by what the
 * name resolves to, for the very connection that is made; so for every redirect, which must lead to a listed host too.
 */
export function createImageFetcher({ hosts, extraAddresses = [], observer }: ImageFetcherOptions): ImageSource {
  const listed: ReadonlySet<string> = new Set(hosts);
  const agents = publicAgents(extraAddresses);

  const get = (url: URL, signal: AbortSignal) => {
    const headers = { accept: 'image/*', 'accept-encoding': 'identity', 'user-agent': 'spanhouse' };
    const request =
      url.protocol === 'https:'
        ? requestHttps(url, { agent: agents.https, signal, headers })
        : requestHttp(url, { agent: agents.http, signal, headers });
    return responseOf(request, signal);
  };

  async function follow(start: URL, signal: AbortSignal): Promise<Buffer> {
    let url = start;
    for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects += 1) {
      if (!mayAsk(url, listed)) throw new Error('redirected to a host that is not allowed');
      const response = await get(url, signal);
      const status = response.statusCode ?? 0;
      const { location } = response.headers;
      if (status === 200) return read(response);
      response.destroy();
      if (!REDIRECTS.has(status) || location === undefined) throw new Error(`answered ${status}`);
      url = new URL(location, url);
    }
    throw new Error(`redirected more than ${MAX_REDIRECTS} times`);
  }

  async function fetch(text: string): Promise<Image | null> {
    const url = new URL(text);
    if (!mayAsk(url, listed)) return null;
    try {
      const image = await imageOf(await follow(url, AbortSignal.timeout(DEADLINE_MS)));
      if (typeof image === 'string') throw new Error('not an image of a supported type');
      return image;
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      observer.attachmentNotFetched({ host: url.host, reason });
      return null;
    }
  }

  return { mayFetch: (url) => mayAsk(new URL(url), listed), fetch };
}

function mayAsk(url: URL, listed: ReadonlySet<string>): boolean {
  const plain = url.username === '' && url.password === '';
  return plain && (url.protocol === 'http:' || url.protocol === 'https:') && listed.has(url.host);
}

async function read(response: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > MAX_IMAGE_BYTES) throw new Error('it is too large');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, bytes);
}
