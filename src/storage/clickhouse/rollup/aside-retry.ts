import type { RollupObserver } from '../../../observability/events/storage.js';
import type { Recomputation, Round } from './recomputation.js';
import type { SetAside } from './set-aside.js';

const SOONEST_MS = 250;

/** Tries what is set aside again when it is due, one at a time and beside the rounds, so that nobody waits for it. */
export class AsideRetry {
  readonly #aside: SetAside;
  readonly #recomputation: Recomputation;
  readonly #observer: Pick<RollupObserver, 'rollupFailed'>;
  readonly #round: () => Round;
  #running: Promise<void> | null = null;
  #timer: NodeJS.Timeout | null = null;
  #closed = false;

  /** @param round the state to recompute to */
  constructor(
    aside: SetAside,
    recomputation: Recomputation,
    observer: Pick<RollupObserver, 'rollupFailed'>,
    round: () => Round,
  ) {
    this.#aside = aside;
    this.#recomputation = recomputation;
    this.#observer = observer;
    this.#round = round;
  }

  /** To be called whenever something may be due earlier than before. */
  schedule(): void {
    const next = this.#aside.next();
    if (this.#closed || this.#running || next === undefined) return;
    if (this.#timer) clearTimeout(this.#timer);
    this.#timer = setTimeout(
      () => {
        this.#running = this.#tryNext().finally(() => {
          this.#running = null;
          this.schedule();
        });
      },
      Math.max(SOONEST_MS, next.dueAt - performance.now()),
    ).unref();
  }

  /** Resolves once nothing is being tried. */
  async ended(): Promise<void> {
    await this.#running;
  }

  async close(): Promise<void> {
    this.#closed = true;
    if (this.#timer) clearTimeout(this.#timer);
    await this.#running;
  }

  async #tryNext(): Promise<void> {
    const next = this.#aside.next();
    if (next === undefined || next.dueAt > performance.now()) return;
    try {
      await this.#recomputation.again(next, this.#round());
    } catch (error) {
      this.#aside.putOff(next);
      this.#observer.rollupFailed({ error });
    }
  }
}
