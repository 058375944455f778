import type { IncomingHttpHeaders } from 'node:http';

/**
 * Where a request comes from: the entry of `X-Forwarded-For` that the outermost of our own proxies wrote. What clients
 * write themselves stands before it.
 * @param remoteAddress the other end of the connection
 * @param trustedProxies how many proxies in front add to the header
 */
export function clientAddress(headers: IncomingHttpHeaders, remoteAddress: string, trustedProxies: number): string {
  if (trustedProxies === 0) return remoteAddress;
  const header = headers['x-forwarded-for'];
  const entries = (Array.isArray(header) ? header.join(',') : (header ?? '')).split(',').map((entry) => entry.trim());
  return withoutPort(entries.at(-trustedProxies) ?? '') || remoteAddress;
}

/**
 * Some proxies write the port of the connection behind the address: with each connection another client, as it were. Behind an IPv6
 * address it needs brackets: without them, what is behind the last colon belongs to the address.
 */
function withoutPort(entry: string): string {
  const [, bracketed, plain] = /^(?:\[([^\]]*)\](?::\d*)?|([^:]*):\d*)$/.exec(entry) ?? [];
  return bracketed ?? plain ?? entry;
}

/** Groups of an IPv6 address: one household has a whole /64, one site often a /48. */
const HOUSEHOLD_GROUPS = 4;
const SITE_GROUPS = 3;

/** The network that counts as one client: an address of IPv4, a /64 of IPv6. */
export function networkOf(address: string): string {
  return prefixOf(address, HOUSEHOLD_GROUPS);
}

/** The same for what is kept for long, where a client has time to use many addresses: a /48 of IPv6. */
export function siteOf(address: string): string {
  return prefixOf(address, SITE_GROUPS);
}

function prefixOf(address: string, count: number): string {
  const plain = address.replace(/^::ffff:(?=\d+\.)/i, '');
  if (!plain.includes(':')) return plain;
  const [head = [], tail] = plain.split('::').map((part) => part.split(':').filter((group) => group !== ''));
  const groups =
    tail === undefined
      ? head
      : [...head, ...Array<string>(Math.max(0, 8 - head.length - tail.length)).fill('0'), ...tail];
  return groups.slice(0, count).join(':');
}
