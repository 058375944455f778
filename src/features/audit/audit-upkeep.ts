import { BackgroundLoop } from '../../engine/work/background-loop.js';
import type { Signals } from '../../engine/signals/signals.js';
import type { Micros } from '../../engine/timestamp.js';
import type { AuditStore } from './audit-entry.js';

export interface AuditUpkeepParts {
  readonly store: Pick<AuditStore, 'forgetSome'>;
  readonly days: number;
  /** Null while the clock is not believed: entries would go by it for good. */
  readonly now: () => Micros | null;
  readonly observer: Pick<Signals, 'auditNotShortened'>;
}

const DAY: Micros = 86_400 * 1e6;
const EVERY_MS = 3_600_000;

/** Removes entries of the audit log that are older than the operator keeps them. */
export class AuditUpkeep {
  readonly #loop: BackgroundLoop;

  constructor({ store, days, now, observer }: AuditUpkeepParts) {
    this.#loop = new BackgroundLoop({
      round: () => {
        const at = now();
        return at !== null && store.forgetSome(at - days * DAY) ? 0 : EVERY_MS;
      },
      onFailure: (error) => observer.auditNotShortened({ error }),
    });
    this.#loop.wake();
  }

  async close(): Promise<void> {
    await this.#loop.close();
  }
}
