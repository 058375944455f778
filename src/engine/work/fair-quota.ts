/** Something limited that parties share, as one party finds it. All amounts are in the same unit. */
export interface Holdings {
  readonly limit: number;
  /** Amount that all parties hold together. */
  readonly taken: number;
  readonly ofParty: number;
}

/**
 * The rule by which many share something limited: no one has more than is left free. A party that comes alone gets half, a
 * second one half of the rest, and so on; so one that takes all it can never keeps the others out.
 */
export function remainingQuota({ limit, taken, ofParty }: Holdings): number {
  return (limit - taken - ofParty) / 2;
}

/** Whether a party may take so much more, see {@link remainingQuota}. */
export function isFair(holdings: Holdings, amount: number): boolean {
  return amount <= remainingQuota(holdings);
}

/** Counts what parties hold, by the rule of {@link remainingQuota}; a party that holds nothing is not kept. */
export class FairQuota {
  readonly #limit: number;
  #taken = 0;
  readonly #parties = new Map<string, number>();

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Takes an amount for a party; false, and nothing is taken, when that would be more than its share. */
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
