/** States whose scores are remembered, those asked for last, and how many objects and scores of each. */
const MAX_REMEMBERED = { states: 20, entries: 4_000 } as const;
/** Objects with a longer text are looked up each time. */
const MAX_TEXT = 200;

/** What is remembered of an object: one of its scores. */
interface Remembered {
  /** Of the object. */
  readonly id: string;
  readonly text: string;
}

/** What is known of one state. */
interface Known<Score> {
  /** By object. */
  readonly scores: Map<string, readonly Score[]>;
  /** Objects and scores. */
  entries: number;
}

/**
 * Scores that lists have shown. A list that is looked at again, as consoles do every few seconds, then looks up only those of objects that are new
 * to it. They are kept by the state that they are of, in which they never change: nobody has to take them back.
 */
export class RememberedScores<Score extends Remembered> {
  /** By state, those asked for last at the end. */
  readonly #states = new Map<string, Known<Score>>();

  /** The scores of some objects. @param read looks up those that are not known */
  async of(
    state: string,
    ids: readonly string[],
    read: (ids: readonly string[]) => Promise<readonly Score[]>,
  ): Promise<Score[]> {
    const known = this.#opened(state);
    const found = ids.flatMap((id) => known.scores.get(id) ?? []);
    const others = ids.filter((id) => !known.scores.has(id));
    if (others.length === 0) return found;
    const looked = await read(others);
    this.#keep(known, others, looked);
    return [...found, ...looked];
  }

  #keep(known: Known<Score>, ids: readonly string[], looked: readonly Score[]): void {
    const entries = ids.length + looked.length;
    if (entries > MAX_REMEMBERED.entries) return;
    if (known.entries + entries > MAX_REMEMBERED.entries) {
      known.scores.clear();
      known.entries = 0;
    }
    known.entries += entries;
    const own = new Map<string, Score[]>(ids.map((id) => [id, []]));
    for (const score of looked) own.get(score.id)?.push(score);
    for (const [id, scores] of own)
      if (scores.every(({ text }) => text.length <= MAX_TEXT)) known.scores.set(id, scores);
  }

  #opened(state: string): Known<Score> {
    const known = this.#states.get(state) ?? { scores: new Map<string, readonly Score[]>(), entries: 0 };
    this.#states.delete(state);
    this.#states.set(state, known);
    const oldest = this.#states.keys().next().value;
    if (this.#states.size > MAX_REMEMBERED.states && oldest !== undefined) this.#states.delete(oldest);
    return known;
  }
}
