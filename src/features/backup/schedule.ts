import { once } from 'node:events';
import { RETRIES } from '../../engine/work/backoff.js';
import { BackgroundLoop } from '../../engine/work/background-loop.js';

export interface BackupScheduleParts {
  readonly everyMs: number;
  /** When the last backup was taken, never ahead of the clock; null: there is none. */
  readonly last: () => Promise<number | null>;
  /** Makes one. */
  readonly run: (signal: AbortSignal) => Promise<void>;
  readonly onFailure: (error: unknown) => void;
}

/** Makes a backup whenever the last one is old enough, also over restarts, and again after a failure. */
export class BackupSchedule {
  readonly #loop: BackgroundLoop;

  constructor({ everyMs, last, run, onFailure }: BackupScheduleParts) {
    this.#loop = new BackgroundLoop({
      round: async () => {
        const at = await unlessEnded(last(), this.#loop.signal);
        const waitMs = at === null ? 0 : Math.min(everyMs, at + everyMs - Date.now());
        if (waitMs > 0) return waitMs;
        await run(this.#loop.signal);
        return everyMs;
      },
      onFailure,
      retry: RETRIES.large,
    });
    this.#loop.wake();
  }

  /** Ends one that is being made. */
  async close(): Promise<void> {
    await this.#loop.close();
  }
}

/** A bucket that does not respond does not delay a stop. */
async function unlessEnded<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const done = new AbortController();
  const end = once(signal, 'abort', { signal: done.signal }).then(() => {
    throw new Error('The server is stopping, and backups with it');
  });
  try {
    return await Promise.race([work, end]);
  } finally {
    done.abort();
  }
}
