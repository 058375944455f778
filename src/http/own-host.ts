import type { IncomingHttpHeaders } from 'node:http';
import { isIP } from 'node:net';
import { DomainError } from '../engine/errors.js';

/** By which names the server is asked for. */
export interface OwnNames {
  /** Base of the URLs handed out. */
  readonly baseUrl: () => string;
  /** Name or address that the server listens on. */
  readonly host: string;
}

/**
 * Refuses a browser that asks for this server by a name that is none of its own: the name of a page whose owner bound it to our
 * address (DNS rebinding), so that the page may read what everyone on this machine may. Addresses, and names without a dot,
 * cannot be bound by others. Programs may ask by any name, as proxies and monitoring do.
 * @throws DomainError `forbidden`
 */
export function requireOwnHost(headers: IncomingHttpHeaders, { baseUrl, host }: OwnNames): void {
  if (!isOfBrowser(headers)) return;
  const asked = hostnameOf(headers.host ?? '');
  if (asked !== null && isUnbindable(asked)) return;
  if (asked !== null && [new URL(baseUrl()).hostname, host].some((own) => hostnameOf(own) === asked)) return;
  throw new DomainError(
    'forbidden',
    `Browsers may not use the name ${asked ?? 'in Host'} for this request. If it is a name of this server, set PUBLIC_URL to the address that browsers use`,
  );
}

/** Headers that scripts of pages cannot remove: which of them there are differs by browser. */
function isOfBrowser(headers: IncomingHttpHeaders): boolean {
  const { origin, referer } = headers;
  const signs = [origin, referer, headers['accept-language'], headers['sec-fetch-site']];
  return signs.some((value) => value !== undefined) || /^Mozilla\//i.test(headers['user-agent'] ?? '');
}

/** The name or address in a `Host`, as URLs have it; null: it is none. */
function hostnameOf(host: string): string | null {
  if (/[/\\@?#\s]/.test(host)) return null;
  const url = URL.parse(`http://${host}`);
  return url === null ? null : url.hostname.replace(/\.$/, '');
}

function isUnbindable(hostname: string): boolean {
  return isIP(hostname.replace(/^\[|\]$/g, '')) !== 0 || !hostname.includes('.') || hostname.endsWith('.localhost');
}
