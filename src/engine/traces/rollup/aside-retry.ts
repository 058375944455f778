import { RETRIES } from '../../work/backoff.js';
import { BackgroundLoop } from '../../work/background-loop.js';
import type { Recomputation, Round } from './recomputation.js';
import type { SetAside } from './set-aside.js';
import type { Signals } from '../../signals/signals.js';

const SOONEST_MS = 250;

/** Tries what is set aside again when it is due, one at a time and beside the rounds, so that no one waits for it. */
export class AsideRetry {
  readonly #aside: SetAside;
  readonly #recomputation: Recomputation;
  readonly #observer: Pick<Signals, 'rollupFailed'>;
  readonly #round: () => Round;
  readonly #loop: BackgroundLoop;

  /** @param round the state to recompute to */
  constructor(
    aside: SetAside,
    recomputation: Recomputation,
    observer: Pick<Signals, 'rollupFailed'>,
    round: () => Round,
  ) {
    this.#aside = aside;
    this.#recomputation = recomputation;
    this.#observer = observer;
    this.#round = round;
    this.#loop = new BackgroundLoop({
      round: () => this.#tryNext(),
      onFailure: (error) => observer.rollupFailed({ error }),
      retry: RETRIES.soon,
    });
  }

  /** Call whenever something may be due earlier than before. */
  schedule(): void {
    this.#loop.wakeIn(this.#dueIn());
  }

  /** Resolves once nothing is being tried. */
  async ended(): Promise<void> {
    await this.#loop.idle();
  }

  async close(): Promise<void> {
    await this.#loop.close();
  }

  async #tryNext(): Promise<number> {
    const next = this.#aside.next();
    if (next === undefined || next.dueAt > performance.now()) return this.#dueIn();
    try {
      await this.#recomputation.again(next, this.#round());
    } catch (error) {
      this.#aside.putOff(next);
      this.#observer.rollupFailed({ error });
    }
    return this.#dueIn();
  }

  #dueIn(): number {
    const next = this.#aside.next();
    return next === undefined ? Infinity : Math.max(SOONEST_MS, next.dueAt - performance.now());
  }
}
