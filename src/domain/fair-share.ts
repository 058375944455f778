/** Something limited that many take of, as one of them finds it. All in the same unit. */
export interface Holdings {
  readonly limit: number;
  /** By all together. */
  readonly taken: number;
  readonly ofParty: number;
}

/**
 * The rule by which many share something limited: nobody has more than is left free. Whoever comes alone gets half, a
 * second one half of the rest, and so on; so one that takes all it can never keeps the others out.
 */
export function fairRoom({ limit, taken, ofParty }: Holdings): number {
  return (limit - taken - ofParty) / 2;
}

/** Whether a party may take so much more, see {@link fairRoom}. */
export function isFair(holdings: Holdings, amount: number): boolean {
  return amount <= fairRoom(holdings);
}

/** Counts what parties hold by that rule. Parties are told apart by name; one that holds nothing is not kept. */
export class FairShares {
  readonly #limit: number;
  #taken = 0;
  readonly #parties = new Map<string, number>();

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** False, and nothing is taken, when it would be more than the party's share. */
  take(party: string, amount: number): boolean {
    const ofParty = this.#parties.get(party) ?? 0;
    if (!isFair({ limit: this.#limit, taken: this.#taken, ofParty }, amount)) return false;
    this.#parties.set(party, ofParty + amount);
    this.#taken += amount;
    return true;
  }

  /** @param amount at most what the party holds */
  giveBack(party: string, amount: number): void {
    const left = (this.#parties.get(party) ?? 0) - amount;
    if (left > 0) this.#parties.set(party, left);
    else this.#parties.delete(party);
    this.#taken -= amount;
  }
}
