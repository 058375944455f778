import type { Governor } from '../../engine/work/governor.js';

/** Evaluations begun per second while clients are busy: each takes about 4 ms of processor time. */
const BUSY_RATE = 40;
/** Evaluations that may begin together, to make up for a long turn of the event loop. */
const BURST = 8;

/** Holds evaluations back while clients write at full speed, to a number a second that hardly slows them down. */
export class IngestPriorityThrottle {
  readonly #governor: Pick<Governor, 'othersWriteFast'>;
  /** When evaluations began, within the last second. */
  #begun: number[] = [];
  #allowance = BURST;
  #allowedAt = 0;

  constructor(governor: Pick<Governor, 'othersWriteFast'>) {
    this.#governor = governor;
  }

  began(): void {
    this.#begun.push(performance.now());
    this.#allowance -= 1;
  }

  /** How long to wait before the next evaluation, in milliseconds. */
  waitMs(): number {
    const now = performance.now();
    this.#allowance = Math.min(BURST, this.#allowance + ((now - this.#allowedAt) / 1000) * BUSY_RATE);
    this.#allowedAt = now;
    const first = this.#begun.findIndex((at) => at >= now - 1_000);
    if (first !== 0) this.#begun = first === -1 ? [] : this.#begun.slice(first);
    if (!this.othersAreBusy()) {
      this.#allowance = BURST;
      return 0;
    }
    return this.#allowance >= 1 ? 0 : ((1 - this.#allowance) / BUSY_RATE) * 1000;
  }

  /** Whether clients write at full speed. */
  othersAreBusy(): boolean {
    return this.#governor.othersWriteFast(this.#begun.length);
  }
}
