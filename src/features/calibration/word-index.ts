/** The usual constants of Okapi BM25: saturation by a word's frequency, and normalization by a text's length. */
const SATURATION = 1.2;
const LENGTH = 0.75;
/** Most words of a query that are looked for, the rarest. */
const MAX_QUERY_WORDS = 64;

/**
 * Finds texts that share words with another, ranked by BM25 (S. Robertson, H. Zaragoza, The Probabilistic Relevance
 * Framework, 2009). Small and kept in memory; texts come and go.
 */
export class WordIndex {
  /** Frequency of each word by text. */
  readonly #texts = new Map<string, Map<string, number>>();
  readonly #words = new Map<string, readonly string[]>();
  #length = 0;

  add(id: string, text: string): void {
    const words = wordsOf(text);
    this.#words.set(id, words);
    this.#length += words.length;
    for (const word of words) {
      let texts = this.#texts.get(word);
      if (texts === undefined) this.#texts.set(word, (texts = new Map<string, number>()));
      texts.set(id, (texts.get(id) ?? 0) + 1);
    }
  }

  remove(id: string): void {
    const words = this.#words.get(id);
    if (words === undefined) return;
    this.#words.delete(id);
    this.#length -= words.length;
    for (const word of words) {
      const texts = this.#texts.get(word);
      texts?.delete(id);
      if (texts?.size === 0) this.#texts.delete(word);
    }
  }

  /** Scores by id of the texts that share a word with this one; higher is more similar. */
  scores(text: string): Map<string, number> {
    const scores = new Map<string, number>();
    const count = this.#words.size;
    const average = this.#length / count;
    const found = [...new Set(wordsOf(text))].flatMap((word) => {
      const texts = this.#texts.get(word);
      return texts === undefined ? [] : [{ word, texts }];
    });
    // Rare words tell most. The order is always the same, since the sum of numbers depends on it.
    found.sort((a, b) => a.texts.size - b.texts.size || (a.word < b.word ? -1 : 1));
    for (const { texts } of found.slice(0, MAX_QUERY_WORDS)) {
      const weight = Math.log(1 + (count - texts.size + 0.5) / (texts.size + 0.5));
      for (const [id, times] of texts) {
        const held = SATURATION * (1 - LENGTH + (LENGTH * (this.#words.get(id)?.length ?? 0)) / average);
        scores.set(id, (scores.get(id) ?? 0) + (weight * times * (SATURATION + 1)) / (times + held));
      }
    }
    return scores;
  }
}

function wordsOf(text: string): string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
}
