import type { IncomingHttpHeaders } from 'node:http';
import { DomainError } from '../../../engine/errors.js';
import type { Credentials } from '../../../engine/identity/sign-in.js';
import { invalid } from '../../../engine/validation/validation.js';
import { clientAddress, networkOf } from '../../../http/wire/client-address.js';
import { MinuteLimit } from '../../../http/minute-limit.js';
import { requireOwnOrigin } from '../../../http/own-origin.js';
import type { Opening } from '../../../http/route.js';
import type { SignInCredentials } from './schema.js';
import type { Signals } from '../../../engine/signals/signals.js';

export interface SignInAttemptsParts {
  /** Base of the URLs handed out. */
  readonly baseUrl: () => string;
  readonly trustedProxies: number;
  /** Attempts of one address that fail. */
  readonly perMinute: number;
  readonly observer: Pick<Signals, 'signInAttempted'>;
}

type From = Pick<Opening<unknown>, 'headers' | 'remoteAddress'>;

/** Keeps addresses from guessing, and tells of those that do. */
export class SignInAttempts {
  readonly #parts: SignInAttemptsParts;
  readonly #failed: MinuteLimit;
  /** Apart, so that a page of another site keeps no one behind the same address from signing in. */
  readonly #foreign: MinuteLimit;

  constructor(parts: SignInAttemptsParts) {
    this.#parts = parts;
    this.#failed = new MinuteLimit(parts.perMinute, 'failed sign-in attempts');
    this.#foreign = new MinuteLimit(parts.perMinute, 'cross-site requests');
  }

  /** @throws DomainError `forbidden`, `overloaded` for a request of another site's page */
  requireOwnPage({ headers, remoteAddress }: From): Promise<void> {
    const address = this.#addressOf(headers, remoteAddress);
    return this.#observed(address, async () => {
      try {
        requireOwnOrigin(headers, this.#parts.baseUrl());
      } catch (error) {
        await this.#foreign.take(address);
        throw error;
      }
    });
  }

  /** Does work with credentials, which counts when they are wrong. @throws DomainError also `overloaded` */
  try<T>(from: From, work: () => T): Promise<T> {
    const address = this.#addressOf(from.headers, from.remoteAddress);
    return this.#observed(address, () =>
      this.#failed.countFailures(
        address,
        work,
        (error) => error instanceof DomainError && error.kind === 'unauthenticated',
      ),
    );
  }

  #addressOf(headers: IncomingHttpHeaders, remoteAddress: string): string {
    return networkOf(clientAddress(headers, remoteAddress, this.#parts.trustedProxies));
  }

  async #observed<T>(address: string, work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      const kind = error instanceof DomainError ? error.kind : null;
      if (kind === 'unauthenticated' || kind === 'forbidden' || kind === 'overloaded')
        this.#parts.observer.signInAttempted({ result: kind, address });
      throw error;
    }
  }
}

/** @throws DomainError `invalid` */
export function credentialsOf({ code, key }: SignInCredentials): Credentials {
  if (code !== undefined && key === undefined) return { code };
  if (key !== undefined && code === undefined) return { key };
  throw invalid([{ pointer: '', detail: 'must have either code or key' }]);
}
