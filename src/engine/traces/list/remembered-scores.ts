/** States whose scores are remembered, those asked for last, and how many objects of each. */
const MAX_REMEMBERED = { states: 40, objects: 1_000 } as const;
/** Objects with a longer text are looked up each time. */
const MAX_TEXT = 200;

/** What is remembered of an object: one of its scores. */
interface Remembered {
  /** Of the object. */
  readonly id: string;
  readonly text: string;
}

/**
 * Scores that lists have shown. A list that is looked at again, as consoles do every few seconds, then looks up only those of objects that are new
 * to it. They are kept by the state that they are of, in which they never change: nobody has to take them back.
 */
export class RememberedScores<Score extends Remembered> {
  /** By state, those asked for last at the end; by object. */
  readonly #known = new Map<string, Map<string, readonly Score[]>>();

  /** The scores of some objects. @param read looks up those that are not known */
  async of(
    state: string,
    ids: readonly string[],
    read: (ids: readonly string[]) => Promise<readonly Score[]>,
  ): Promise<Score[]> {
    const known = this.#opened(state);
    const found = ids.flatMap((id) => known.get(id) ?? []);
    const others = ids.filter((id) => !known.has(id));
    if (others.length === 0) return found;
    const looked = await read(others);
    const long = new Set(looked.filter(({ text }) => text.length > MAX_TEXT).map(({ id }) => id));
    if (known.size + others.length > MAX_REMEMBERED.objects) known.clear();
    for (const id of others.slice(0, MAX_REMEMBERED.objects)) if (!long.has(id)) known.set(id, []);
    for (const score of looked) {
      const own = known.get(score.id);
      if (own !== undefined && !long.has(score.id)) known.set(score.id, [...own, score]);
    }
    return [...found, ...looked];
  }

  #opened(state: string): Map<string, readonly Score[]> {
    const known = this.#known.get(state) ?? new Map<string, readonly Score[]>();
    this.#known.delete(state);
    this.#known.set(state, known);
    const oldest = this.#known.keys().next().value;
    if (this.#known.size > MAX_REMEMBERED.states && oldest !== undefined) this.#known.delete(oldest);
    return known;
  }
}
