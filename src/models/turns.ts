interface Waiting {
  readonly begin: () => void;
}

/**
 * Work of several owners, so much of it at once. Owners take turns: whoever has much to do waits behind those who have
 * little, so that work never waits for more than one piece of each other owner to begin.
 */
export class Turns {
  readonly #atOnce: number;
  #running = 0;
  /** Owners that wait, the next one first. */
  readonly #waiting = new Map<string, Waiting[]>();

  constructor(atOnce: number) {
    this.#atOnce = atOnce;
  }

  async run<T>(owner: string, work: () => Promise<T>): Promise<T> {
    if (this.#running < this.#atOnce) this.#running += 1;
    else await this.#turn(owner);
    try {
      return await work();
    } finally {
      this.#passOn();
    }
  }

  #turn(owner: string): Promise<void> {
    return new Promise((begin) => {
      const own = this.#waiting.get(owner);
      if (own === undefined) this.#waiting.set(owner, [{ begin }]);
      else own.push({ begin });
    });
  }

  /** Whoever ends hands the place on, so that nobody comes in between. */
  #passOn(): void {
    const [next] = this.#waiting;
    if (next === undefined) {
      this.#running -= 1;
      return;
    }
    const [owner, own] = next;
    const first = own.shift();
    this.#waiting.delete(owner);
    if (own.length > 0) this.#waiting.set(owner, own);
    first?.begin();
  }
}
