import type { IncomingHttpHeaders } from 'node:http';
import { DomainError } from '../../../engine/errors.js';
import { clientAddress, networkOf, siteOf } from '../../../http/wire/client-address.js';
import { MinuteLimit } from '../../../http/minute-limit.js';
import type { Opening } from '../../../http/route.js';

/** Requests a minute: of one address, which may be an office full of reviewers, and of one link. */
export interface RequestsPerMinute {
  readonly address: number;
  readonly link: number;
}

/** Where a request comes from. */
export type From = Pick<Opening<unknown>, 'headers' | 'remoteAddress'>;

/** Keeps the public pages from being used up by few. */
export class ReviewAccess {
  readonly #trustedProxies: number;
  readonly #limits;

  /** @param trustedProxies how many proxies in front add to `X-Forwarded-For` */
  constructor(trustedProxies: number, limits: RequestsPerMinute) {
    this.#trustedProxies = trustedProxies;
    this.#limits = { address: new MinuteLimit(limits.address), link: new MinuteLimit(limits.link) };
  }

  /** @throws DomainError `overloaded` */
  ofAddress(headers: IncomingHttpHeaders, remoteAddress: string): Promise<void> {
    return this.#limits.address.take(networkOf(clientAddress(headers, remoteAddress, this.#trustedProxies)));
  }

  /** The network that a visitor is in. */
  siteOf({ headers, remoteAddress }: From): string {
    return siteOf(clientAddress(headers, remoteAddress, this.#trustedProxies));
  }

  /** @throws DomainError `overloaded` */
  ofLink(linkId: string): Promise<void> {
    return this.#limits.link.take(linkId);
  }
}

/**
 * Whether a request that is not of a foreign site surely comes from our page or from no browser: only a page that sends no
 * referrer, in a browser that says nothing more, may be any.
 */
export function isVouchedFor({ origin, ...headers }: IncomingHttpHeaders): boolean {
  return headers['sec-fetch-site'] !== undefined || origin !== 'null';
}

/**
 * A form that another site sends in a reviewer's name is refused. Browsers say where a request comes from; for one that
 * says nothing, what the form relies on is signed.
 * @throws DomainError `forbidden`
 */
export function requireOwnSite(headers: IncomingHttpHeaders, ownOrigins: readonly string[]): void {
  const site = headers['sec-fetch-site'];
  const { origin } = headers;
  const foreign =
    site !== undefined
      ? site !== 'same-origin' && site !== 'none'
      : // `null` is what a page that sends no referrer says of itself, and so does ours.
        origin !== undefined && origin !== 'null' && !ownOrigins.includes(origin);
  if (foreign) throw new DomainError('forbidden', 'Send feedback only from the feedback link page');
}
