/** Time of the processor that this thread took so far, in milliseconds: whatever else the machine does, it is the same for the same work. */
export function processorMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}

/** To ask for the processor's time takes longer than most work: it is asked for once a turn took so long. */
const SHORT_MS = 2;

/** How long the search of one rule in one text may take, and how long it took. Turns of others do not count. */
export class Effort {
  readonly #maxMs: number;
  #spent = 0;
  #began = 0;
  /** The time of the processor when the turn was no longer short; null: it is. */
  #counted: number | null = null;

  constructor(maxMs: number) {
    this.#maxMs = maxMs;
  }

  /** A turn begins. */
  begin(): void {
    this.#began = performance.now();
    this.#counted = null;
  }

  /** The turn ends. */
  end(): void {
    if (this.#counted !== null) this.#spent += processorMs() - this.#counted;
    this.#counted = null;
  }

  /** Whether the turn must end, as the search takes too long. */
  isLate(): boolean {
    if (this.#counted !== null) return this.#spent + processorMs() - this.#counted > this.#maxMs;
    if (performance.now() - this.#began >= SHORT_MS) this.#counted = processorMs();
    return this.isSpent;
  }

  /** Whether the turns that ended took too long. */
  get isSpent(): boolean {
    return this.#spent > this.#maxMs;
  }
}
