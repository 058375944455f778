/** The requests that wait for the next commit. */
export interface Waiting {
  readonly requests: number;
  readonly rows: number;
}

/** From so many rows on, the rows cost more than the commit itself: lingering would only delay it. */
const ROWS_WORTH_A_COMMIT = 500;
/** A commit lingers at most for this part of the time that the one before it took. */
const PART_OF_A_COMMIT = 0.25;
const MAX_WAIT_MS = 50;
/** That part of a commit's time while reads are under way: they get what commits leave of the engine. */
const BESIDE_READS = 0.75;
const MAX_WAIT_BESIDE_READS_MS = 50;

/**
 * Decides how long a commit lingers for more requests. A small commit costs nearly as much as one ten times its size, and clients
 * that were answered by one commit are back a moment later: without waiting for them they would fall into two halves that
 * take turns, each paying for a whole commit. A client that writes alone is not waited for: all that was there last time
 * is there again.
 */
export class CommitBatcher {
  readonly #waitMs: number;
  readonly #othersRead: () => boolean;
  #expected = Number.POSITIVE_INFINITY;
  #commitMs = 0;
  #arrived: () => void = () => undefined;

  /**
   * @param waitMs the longest wait while commits are short; 0: never wait.
   * @param othersRead whether reads are under way
   */
  constructor(waitMs: number, othersRead: () => boolean = () => false) {
    this.#waitMs = waitMs;
    this.#othersRead = othersRead;
  }

  /** Tells the batcher of a request that has come in. */
  arrived(): void {
    this.#arrived();
  }

  /** Tells the batcher of a commit that is through: how many requests it answered, and how many waited meanwhile. */
  committed({ answered, waiting, ms }: { answered: number; waiting: number; ms: number }): void {
    this.#expected = answered + waiting;
    this.#commitMs = ms;
  }

  /** Resolves when a commit is due. */
  async wait(waiting: () => Waiting): Promise<void> {
    if (this.#waitMs === 0) return;
    const enough = () => {
      const { requests, rows } = waiting();
      return requests >= this.#expected || rows >= ROWS_WORTH_A_COMMIT;
    };
    if (enough()) return;
    const limit = Math.max(
      this.#waitMs,
      this.#othersRead()
        ? Math.min(MAX_WAIT_BESIDE_READS_MS, this.#commitMs * BESIDE_READS)
        : Math.min(MAX_WAIT_MS, this.#commitMs * PART_OF_A_COMMIT),
    );
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, limit);
      this.#arrived = () => {
        if (!enough()) return;
        clearTimeout(timer);
        resolve();
      };
    });
    this.#arrived = () => undefined;
  }
}
