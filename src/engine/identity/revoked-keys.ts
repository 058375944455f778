import type { Micros } from '../timestamp.js';
import { hashApiKey } from './api-key.js';
import type { IdentityStore, RevokedKey } from './identity-store.js';

const DAY: Micros = 86_400 * 1e6;
/** How long a revoked key is remembered. */
const KEPT: Micros = 30 * DAY;
/** Keys that are looked at together: a few milliseconds, also where each has a user who goes. */
const AT_ONCE = 50;
const TURN_EVERY_MS = 5_000;

export interface RevokedKeysParts {
  readonly store: Pick<IdentityStore, 'removeRevoked' | 'revokeExpired'>;
  /** The key that starts ensure; null: none. */
  readonly initKey: string | null;
  readonly now?: () => Micros;
  /** Called when keys could not be removed; it is tried again. */
  readonly onFailed?: (error: unknown) => void;
}

/**
 * Removes keys that were revoked, or expired, 30 days ago. Those stay that something needs: the last of a user in a project, by which imports
 * know who was there, unless it is of someone who was invited and left nothing; and those that a start would make again.
 */
export class RevokedKeys {
  readonly #parts: RevokedKeysParts;
  readonly #now: () => Micros;
  readonly #keep;
  readonly #timer: NodeJS.Timeout;
  /** How far they were looked through. */
  #after: RevokedKey | null = null;
  #againAt: Micros = 0;

  constructor(parts: RevokedKeysParts) {
    this.#parts = parts;
    this.#now = parts.now ?? (() => Date.now() * 1000);
    this.#keep = parts.initKey === null ? null : hashApiKey(parts.initKey);
    this.#timer = setInterval(() => this.#turn(), TURN_EVERY_MS);
    this.#timer.unref();
  }

  /** Removes a portion; once a day, all are looked through. @returns whether there may be more */
  removeSome(): boolean {
    const now = this.#now();
    if (now < this.#againAt) return false;
    if (this.#after === null) this.#parts.store.revokeExpired(now - KEPT);
    const portion = { before: now - KEPT, after: this.#after, limit: AT_ONCE, keep: this.#keep };
    this.#after = this.#parts.store.removeRevoked(portion);
    if (this.#after === null) this.#againAt = now + DAY;
    return this.#after !== null;
  }

  close(): void {
    clearInterval(this.#timer);
  }

  #turn(): void {
    try {
      this.removeSome();
    } catch (error) {
      this.#parts.onFailed?.(error);
    }
  }
}
