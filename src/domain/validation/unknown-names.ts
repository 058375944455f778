const MAX_NAMES = 20;
/** Longest name that is kept whole, in characters. */
export const MAX_NAME_LENGTH = 100;

/** Names in a lenient request that nothing here knows, in the order in which they came. Bounded, whatever is sent. */
export class UnknownNames {
  readonly #names = new Set<string>();

  add(name: string): void {
    // One more than are told says that there are more, and so does one more character.
    if (this.#names.size <= MAX_NAMES) this.#names.add(name.slice(0, MAX_NAME_LENGTH + 1));
  }

  get some(): boolean {
    return this.#names.size > 0;
  }

  /** Whether further names change nothing. */
  get full(): boolean {
    return this.#names.size > MAX_NAMES;
  }

  /** Names to tell. A name that is longer than {@link MAX_NAME_LENGTH} is cut. */
  get told(): readonly string[] {
    return [...this.#names].slice(0, MAX_NAMES);
  }
}
