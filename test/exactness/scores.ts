import { isDeepStrictEqual } from 'node:util';
import type { SentScore } from './sent.js';
import type { Read } from './stored-span.js';

/* Scores as the store must have them: of one entity, name and author, the last write. */

export type Scored = SentScore['entity_type'];
/** Whether a thing is there. */
export type IsThere = (what: Scored, id: string) => boolean;

interface Given {
  readonly score: SentScore;
  /** Place in the order of writes. */
  readonly order: number;
}

export class ScoreModel {
  readonly #given = new Map<string, Given>();

  copy(): ScoreModel {
    const copy = new ScoreModel();
    for (const [key, given] of this.#given) copy.#given.set(key, given);
    return copy;
  }

  give(score: SentScore, order: number): void {
    this.#given.set(scoreKey(score), { score, order });
  }

  take(score: SentScore): void {
    this.#given.delete(scoreKey(score));
  }

  /** One that is there; of fewer, the last. */
  nth(place: number): SentScore | undefined {
    const all = [...this.#given.values()].map(({ score }) => score);
    return all[Math.min(place, all.length - 1)];
  }

  /** Removes those of what was there, and is not any more. */
  removeOrphans(wasThere: IsThere, isThere: IsThere): void {
    for (const [key, { score }] of this.#given) {
      const [what, id] = [score.entity_type, score.entity_id.toLowerCase()];
      if (wasThere(what, id) && !isThere(what, id)) this.#given.delete(key);
    }
  }

  /** The newest value of each name, of some things together. */
  newest(isOf: (what: Scored, id: string) => boolean): Read {
    const found = [...this.#given.values()]
      .filter(({ score }) => isOf(score.entity_type, score.entity_id.toLowerCase()))
      .sort((a, b) => a.order - b.order);
    return Object.fromEntries(found.map(({ score: { name, value } }) => [name, value]));
  }
}

export function scoreKey({ entity_type, entity_id, name, author }: SentScore): string {
  return [entity_type, entity_id.toLowerCase(), name, author].join('/');
}

/** What distinguishes statistics from the values that they are of; null: nothing does. */
export function meanProblem({ count, mean, min, max }: Read, scores: readonly unknown[]): string | null {
  const values = scores.filter((score) => typeof score === 'number');
  const none = values.length === 0;
  const expected = [values.length, none ? null : Math.min(...values), none ? null : Math.max(...values)];
  if (!isDeepStrictEqual([count, min, max], expected))
    return `count, min and max must be ${JSON.stringify(expected)}, were ${JSON.stringify([count, min, max])}`;
  const wanted = none ? null : values.reduce((sum, value) => sum + value, 0) / values.length;
  return Math.abs(Number(mean) - Number(wanted)) < 1e-12 ? null : `the mean must be ${wanted}, was ${String(mean)}`;
}
