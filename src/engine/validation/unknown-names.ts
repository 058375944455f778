/** Most names that are told. */
export const MAX_NAMES = 20;
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

  /** The names, one more than are told when there are more. */
  get names(): readonly string[] {
    return [...this.#names];
  }
}
