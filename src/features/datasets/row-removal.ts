import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Signals } from '../../engine/signals/signals.js';
import type { RowStaging } from './dataset.js';
import type { VersionWriter } from './version-writer.js';

export interface RowRemovalParts {
  readonly staging: Pick<RowStaging, 'removeSome'>;
  readonly writer: Pick<VersionWriter, 'removeUnfinished'>;
  readonly observer: Pick<Signals, 'datasetRowsNotRemoved'>;
}

/** Removes rows after the response: those of deleted datasets, and what a crash left of unfinished versions. */
export class RowRemoval {
  readonly #parts: RowRemovalParts;
  #last: Promise<void> = Promise.resolve();
  #closed = false;

  constructor(parts: RowRemovalParts) {
    this.#parts = parts;
  }

  /** Continues what a crash or a stop has interrupted. */
  resume(): void {
    this.#next(() => this.#parts.writer.removeUnfinished(() => this.#closed));
    this.removeDeleted();
  }

  /** Removes the rows of deleted datasets. */
  removeDeleted(): void {
    this.#next(async () => {
      while (!this.#closed && this.#parts.staging.removeSome()) await nextTurn();
    });
  }

  /** Resolves when nothing is being removed; the next start removes the rest. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#last;
  }

  #next(work: () => Promise<void>): void {
    this.#last = this.#last
      .then(() => (this.#closed ? undefined : work()))
      .catch((error: unknown) => this.#parts.observer.datasetRowsNotRemoved({ error }));
  }
}
