import { isIP } from 'node:net';
import type { Micros } from '../timestamp.js';
import type { IdentityStore, KeyUse } from './identity-store.js';

const FLUSH_INTERVAL_MS = 5_000;
/** A key that is used all the time is noted once a minute. */
export const USE_RESOLUTION_MICROS: Micros = 60_000_000;

export interface KeyUsesParts {
  readonly store: Pick<IdentityStore, 'recordUses'>;
  /** Called when uses could not be written; nothing else depends on them. */
  readonly onFailed: (error: unknown) => void;
}

/** Notes when keys were used last and from where, a few seconds late: no request waits for it. */
export class KeyUses {
  readonly #parts: KeyUsesParts;
  readonly #timer: NodeJS.Timeout;
  readonly #uses = new Map<string, KeyUse>();

  constructor(parts: KeyUsesParts) {
    this.#parts = parts;
    this.#timer = setInterval(() => this.flush(), FLUSH_INTERVAL_MS);
    this.#timer.unref();
  }

  /** @param from the address of the client, if it is known */
  note(keyId: string, at: Micros, from: string | undefined): void {
    this.#uses.set(keyId, { at, from: addressOf(from) });
  }

  flush(): void {
    if (this.#uses.size === 0) return;
    const uses = new Map(this.#uses);
    this.#uses.clear();
    try {
      this.#parts.store.recordUses(uses);
    } catch (error) {
      this.#parts.onFailed(error);
    }
  }

  /** Writes what is noted. Nothing must be noted afterwards. */
  close(): void {
    clearInterval(this.#timer);
    this.flush();
  }
}

/** The address in what a proxy wrote, which may be anything; null: none. */
export function addressOf(from = ''): string | null {
  const plain = from.replace(/^::ffff:(?=\d+\.)/i, '').replace(/%.*$/, '');
  return isIP(plain) === 0 ? null : plain;
}
