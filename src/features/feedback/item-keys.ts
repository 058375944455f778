import type { Micros } from '../../engine/timestamp.js';
import type { HumanItem, EvaluationItem } from './unified-items.js';

export type ItemKind = (HumanItem | EvaluationItem)['kind'];

export interface ItemKey {
  readonly kind: ItemKind;
  /** The store's own number of the item, unique in its kind. */
  readonly number: number;
  readonly created_at: Micros;
}

/** Numbers in a key: the time, and twice the item's number, plus one for an evaluation. */
const WIDTH = 2;

/** Keys in their order, newest first and ties by their numbers, one behind the other. */
type Run = Float64Array;

/**
 * The keys of the newest items of very many, each in 16 bytes. They come in portions, which are merged as they grow alike, so that
 * no turn of the event loop sorts all.
 */
export class NewestKeys {
  readonly #most: number;
  /** Each at least twice as long as the next. */
  readonly #runs: Run[] = [];
  #total = 0;
  #human = 0;

  /** @param most how many are kept */
  constructor(most: number) {
    this.#most = most;
  }

  /** How many were added. */
  get total(): number {
    return this.#total;
  }

  get human(): number {
    return this.#human;
  }

  add(keys: readonly ItemKey[]): void {
    this.#total += keys.length;
    this.#human += keys.filter(({ kind }) => kind === 'human_feedback').length;
    const packed = keys.map(({ kind, number, created_at }): [number, number] => [
      created_at,
      2 * number + (kind === 'judge_evaluation' ? 1 : 0),
    ]);
    packed.sort(([a, x], [b, y]) => b - a || y - x);
    this.#runs.push(Float64Array.from(packed.slice(0, this.#most).flat()));
    while (this.#unlike()) this.#mergeLast();
  }

  /** The keys from one place to another; none is added from then on. */
  page(from: number, to: number): ItemKey[] {
    while (this.#runs.length > 1) this.#mergeLast();
    const [run = new Float64Array()] = this.#runs;
    const length = Math.max(0, Math.min(to, run.length / WIDTH) - from);
    return Array.from({ length }, (_, index) => {
      const [created_at = 0, packed = 0] = run.subarray((from + index) * WIDTH);
      return {
        kind: packed % 2 === 1 ? 'judge_evaluation' : 'human_feedback',
        number: Math.floor(packed / 2),
        created_at,
      };
    });
  }

  #unlike(): boolean {
    const [last, before] = [this.#runs.at(-1), this.#runs.at(-2)];
    return last !== undefined && before !== undefined && before.length < 2 * last.length;
  }

  #mergeLast(): void {
    const [right, left] = [this.#runs.pop(), this.#runs.pop()];
    if (left !== undefined && right !== undefined) this.#runs.push(merged(left, right, this.#most * WIDTH));
  }
}

function merged(left: Run, right: Run, most: number): Run {
  const all = new Float64Array(Math.min(left.length + right.length, most));
  let [l, r] = [0, 0];
  for (let at = 0; at < all.length; at += WIDTH) {
    const fromLeft = r >= right.length || (l < left.length && comesFirst(left, l, right, r));
    const [run, place] = fromLeft ? [left, l] : [right, r];
    all[at] = run[place] ?? 0;
    all[at + 1] = run[place + 1] ?? 0;
    if (fromLeft) l += WIDTH;
    else r += WIDTH;
  }
  return all;
}

function comesFirst(left: Run, l: number, right: Run, r: number): boolean {
  const [a = 0, b = 0] = [left[l], right[r]];
  return a === b ? (left[l + 1] ?? 0) > (right[r + 1] ?? 0) : a > b;
}
