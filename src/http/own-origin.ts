import type { IncomingHttpHeaders } from 'node:http';
import { DomainError } from '../engine/errors.js';

/** Origins of pages of ours, as browsers name them. @param baseUrl of the URLs handed out */
export function ownOrigins({ host = '' }: IncomingHttpHeaders, baseUrl: string): string[] {
  return [new URL(baseUrl).origin, `http://${host}`, `https://${host}`];
}

/**
 * Refuses what a browser says comes from a page that is not ours. What says nothing is no page: a browser says where else it
 * comes from.
 * @throws DomainError `forbidden`
 */
export function requireOwnOrigin(headers: IncomingHttpHeaders, baseUrl: string): void {
  const { origin } = headers;
  const site = headers['sec-fetch-site'];
  const foreign =
    (site !== undefined && site !== 'same-origin') ||
    (origin !== undefined && !ownOrigins(headers, baseUrl).includes(origin));
  if (foreign)
    throw new DomainError(
      'forbidden',
      'This request must come from a page of this server; behind a proxy, set PUBLIC_URL to the address that browsers use',
    );
}
