import { RequestFilteringHttpAgent, RequestFilteringHttpsAgent } from 'request-filtering-agent';

/** IPv4 addresses as ones of IPv6, of old: `::127.0.0.1`. They count as public, and no one has a public one. */
const COMPATIBLE = '::/96';
const MAX_HEADER_BYTES = 16_384;

/**
 * Connections to public addresses alone: private, loopback, link-local and other special addresses are refused by what a name
 * resolves to, for the very connection that is made.
 * @param allowed addresses and ranges that may be reached although they are not public
 */
export function publicAgents(allowed: readonly string[]) {
  const filter = {
    allowIPAddressList: [...allowed],
    denyIPAddressList: [COMPATIBLE],
    keepAlive: false,
    maxHeaderSize: MAX_HEADER_BYTES,
  };
  return { http: new RequestFilteringHttpAgent(filter), https: new RequestFilteringHttpsAgent(filter) };
}
