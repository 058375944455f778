/** Which of some keys are there. */
export type LookUp = (party: string, keys: readonly string[]) => Promise<ReadonlySet<string>>;

interface Next {
  readonly keys: Set<string>;
  readonly found: Promise<ReadonlySet<string>>;
}

/** Keys that one look-up has of several callers; who asks for more looks alone. */
const MOST_TOGETHER = 1_000;

/**
 * Looks keys up for several callers at once: who asks while a look-up of the party is in progress waits for the next one, which
 * begins after all who share it have asked.
 */
export class SharedLookUp {
  readonly #look: LookUp;
  readonly #underWay = new Map<string, Promise<ReadonlySet<string>>>();
  readonly #next = new Map<string, Next>();

  constructor(look: LookUp) {
    this.#look = look;
  }

  /** @returns those that are there, perhaps with others' */
  find(party: string, keys: readonly string[]): Promise<ReadonlySet<string>> {
    const underWay = this.#underWay.get(party);
    if (keys.length > MOST_TOGETHER) return this.#look(party, keys);
    if (underWay === undefined) return this.#begin(party, keys);
    const next = this.#next.get(party);
    if (next === undefined) return this.#wait(party, keys, underWay);
    if (next.keys.size + keys.length > MOST_TOGETHER) return this.#look(party, keys);
    for (const key of keys) next.keys.add(key);
    return next.found;
  }

  #begin(party: string, keys: readonly string[]): Promise<ReadonlySet<string>> {
    const found = this.#look(party, keys);
    this.#underWay.set(party, found);
    const ended = () => {
      if (this.#underWay.get(party) === found) this.#underWay.delete(party);
    };
    found.then(ended, ended);
    return found;
  }

  #wait(party: string, asked: readonly string[], underWay: Promise<unknown>): Promise<ReadonlySet<string>> {
    const keys = new Set(asked);
    const begin = () => {
      this.#next.delete(party);
      return this.#begin(party, [...keys]);
    };
    const found = underWay.then(begin, begin);
    this.#next.set(party, { keys, found });
    return found;
  }
}
