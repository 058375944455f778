interface Bounds {
  /** Most that one party has open. */
  readonly perParty: number;
  /** Most that all parties have open together; default: any number. */
  readonly all?: number;
}

/** Counts what parties have open, up to a number; a party that has nothing open is not kept. */
export class OpenCount {
  readonly #perParty: number;
  readonly #most: number;
  readonly #parties = new Map<string, number>();
  #all = 0;

  constructor({ perParty, all = Infinity }: Bounds) {
    this.#perParty = perParty;
    this.#most = all;
  }

  /** @returns what closes it again, however often it is called; undefined: as many are open as may be */
  open(party: string): (() => void) | undefined {
    const own = this.#parties.get(party) ?? 0;
    if (own >= this.#perParty || this.#all >= this.#most) return undefined;
    this.#parties.set(party, own + 1);
    this.#all += 1;
    let isOpen = true;
    return () => {
      if (!isOpen) return;
      isOpen = false;
      this.#all -= 1;
      const left = (this.#parties.get(party) ?? 1) - 1;
      if (left === 0) this.#parties.delete(party);
      else this.#parties.set(party, left);
    };
  }
}
