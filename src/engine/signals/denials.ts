const MINUTE_MS = 60_000;
/** Lines in a minute, so that guessing from ever other addresses fills no disk. */
const TOGETHER = 600;
const EACH = 10;

/** Says which requests that were denied are still worth a line. */
export class Denials {
  readonly #now: () => number;
  readonly #told = new Map<string, number>();
  #total = 0;
  #endsAt = 0;

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** Counts one. @returns whether enough was said this minute, of this network or of all together @param network what counts as one client */
  isEnough(network: string): boolean {
    const now = this.#now();
    if (now >= this.#endsAt) {
      this.#told.clear();
      this.#total = 0;
      this.#endsAt = now + MINUTE_MS;
    }
    if (this.#total >= TOGETHER) return true;
    const told = this.#told.get(network) ?? 0;
    if (told >= EACH) return true;
    this.#told.set(network, told + 1);
    this.#total += 1;
    return false;
  }
}
