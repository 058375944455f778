import type { Signals } from '../../engine/signals/signals.js';
import { PortionSize } from '../../engine/work/portions.js';
import type { ComparisonStore } from './comparison-store.js';

const EVERY_MS = 10_000;
const AT_ONCE = 50;

/** Removes comparisons of datasets of which rows were erased, or that were deleted. No one sees them anymore. */
export class ErasedComparisons {
  readonly #comparisons: Pick<ComparisonStore, 'removeErased'>;
  readonly #observer: Pick<Signals, 'experimentNotRemoved'>;
  readonly #stopping = new AbortController();
  readonly #timer: NodeJS.Timeout;
  #underWay: Promise<void> | null = null;

  constructor(comparisons: Pick<ComparisonStore, 'removeErased'>, observer: Pick<Signals, 'experimentNotRemoved'>) {
    this.#comparisons = comparisons;
    this.#observer = observer;
    this.#timer = setInterval(() => void this.remove(), EVERY_MS).unref();
  }

  /** Removes all that there are now. What fails is tried again later. */
  remove(): Promise<void> {
    this.#underWay ??= this.#remove().finally(() => (this.#underWay = null));
    return this.#underWay;
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    this.#stopping.abort();
    await this.#underWay;
  }

  async #remove(): Promise<void> {
    const portions = new PortionSize({ first: 1, most: AT_ONCE });
    const remove = (atOnce: number) => this.#comparisons.removeErased(atOnce);
    try {
      while ((await portions.turn(remove, this.#stopping.signal)) > 0);
    } catch (error) {
      if (!this.#stopping.signal.aborted) this.#observer.experimentNotRemoved({ error });
    }
  }
}
