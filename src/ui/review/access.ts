import type { IncomingHttpHeaders } from 'node:http';
import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible';
import { DomainError } from '../../domain/errors.js';
import { clientAddress, networkOf, siteOf } from '../../transport/client-address.js';
import type { Opening } from '../../transport/http/route.js';

/** Requests a minute: of one address, which may be an office full of reviewers, and of one link. */
export interface RequestsPerMinute {
  readonly address: number;
  readonly link: number;
}

const SECONDS = 60;

/** Where a request comes from. */
export type From = Pick<Opening<unknown>, 'headers' | 'remoteAddress'>;

/** Keeps the public pages from being used up by few. */
export class ReviewAccess {
  readonly #trustedProxies: number;
  readonly #limits: RequestsPerMinute;
  readonly #limiters;

  /** @param trustedProxies how many proxies in front add to `X-Forwarded-For` */
  constructor(trustedProxies: number, limits: RequestsPerMinute) {
    this.#trustedProxies = trustedProxies;
    this.#limits = limits;
    this.#limiters = {
      address: new RateLimiterMemory({ points: limits.address, duration: SECONDS }),
      link: new RateLimiterMemory({ points: limits.link, duration: SECONDS }),
    };
  }

  /** @throws DomainError `overloaded` */
  ofAddress(headers: IncomingHttpHeaders, remoteAddress: string): Promise<void> {
    return this.#consume('address', networkOf(clientAddress(headers, remoteAddress, this.#trustedProxies)));
  }

  /** The network that a visitor is in. */
  siteOf({ headers, remoteAddress }: From): string {
    return siteOf(clientAddress(headers, remoteAddress, this.#trustedProxies));
  }

  /** @throws DomainError `overloaded` */
  ofLink(linkId: string): Promise<void> {
    return this.#consume('link', linkId);
  }

  async #consume(what: keyof RequestsPerMinute, key: string): Promise<void> {
    try {
      await this.#limiters[what].consume(key);
    } catch (refusal) {
      if (!(refusal instanceof RateLimiterRes)) throw refusal;
      throw new DomainError('overloaded', `Only ${this.#limits[what]} requests a minute are taken here`, {
        retryAfterSeconds: refusal.msBeforeNext / 1000,
      });
    }
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
  if (foreign) throw new DomainError('forbidden', 'This can only be sent from the page of the feedback link');
}
