/** How busy the store is with commits. */
export interface WriteLoad {
  /** The share of the last seconds during which a commit was under way, 0 to 1. */
  readonly share: number;
  /** Spans committed, a second. */
  readonly rowsPerSecond: number;
}

/** From here on clients are what keeps the store busy, and what they send goes first. */
const BUSY_SHARE = 0.4;
const MANY_ROWS = 1_000;
/** Evaluations bring rows themselves; the others must be far more. */
const OWN_ROWS_TIMES = 4;
/** Meanwhile, evaluations begin at most this often. */
const BUSY_GAP_MS = 20;

/** Holds evaluations back while clients write at full speed, to a number a second that hardly slows them down. */
export class Politeness {
  readonly #load: () => WriteLoad;
  /** When evaluations began, within the last second. */
  #begun: number[] = [];

  constructor(load: () => WriteLoad) {
    this.#load = load;
  }

  began(): void {
    this.#forget();
    this.#begun.push(performance.now());
  }

  /** How long to wait before the next evaluation, in milliseconds. */
  waitMs(): number {
    const { share, rowsPerSecond } = this.#load();
    this.#forget();
    const others = rowsPerSecond - this.#begun.length;
    if (share < BUSY_SHARE || others < MANY_ROWS || others < this.#begun.length * OWN_ROWS_TIMES) return 0;
    return Math.max(0, (this.#begun.at(-1) ?? 0) + BUSY_GAP_MS - performance.now());
  }

  #forget(): void {
    const since = performance.now() - 1_000;
    const first = this.#begun.findIndex((at) => at >= since);
    if (first !== 0) this.#begun = first === -1 ? [] : this.#begun.slice(first);
  }
}
