import { setImmediate as nextTurn } from 'node:timers/promises';

/** About how long the event loop may be kept by one portion, in milliseconds. */
const AIM_MS = 10;
/** How much larger the next portion may be than one that took no time. */
const GROWTH = 4;

/** How many objects a portion of synchronous work has, by how long the one before took. */
export class PortionSize {
  readonly #most: number;
  #size: number;

  constructor(bounds: { readonly first: number; readonly most: number }) {
    this.#size = bounds.first;
    this.#most = bounds.most;
  }

  /** Does a portion's work, and gives others their turns. @throws what the work throws, and the signal's reason */
  async turn<R>(work: (size: number) => R, signal?: AbortSignal): Promise<R> {
    const began = performance.now();
    const done = work(this.#size);
    const fitting = Math.floor((this.#size * AIM_MS) / Math.max(1, performance.now() - began));
    this.#size = Math.max(1, Math.min(fitting, this.#size * GROWTH, this.#most));
    await nextTurn();
    signal?.throwIfAborted();
    return done;
  }
}

/**
 * Does synchronous work of many objects in portions, between which others get their turns. How much there is to do of one is
 * not known: a span has one evaluation, or a thousand.
 */
export async function inPortions<T>(
  objects: readonly T[],
  work: (portion: readonly T[]) => void,
  signal?: AbortSignal,
): Promise<void> {
  const portions = new PortionSize({ first: 200, most: 2_000 });
  for (let from = 0; from < objects.length;) {
    from += await portions.turn((size) => {
      const portion = objects.slice(from, from + size);
      work(portion);
      return portion.length;
    }, signal);
  }
}

/**
 * Hands on what is made synchronously, one after another, and gives others their turns in between. Awaiting what is there already, as
 * streams do with an iterator, lets no one else run.
 */
export async function* withTurns<T>(objects: Iterable<T>): AsyncGenerator<T, void, undefined> {
  let began = performance.now();
  for (const object of objects) {
    yield object;
    if (performance.now() - began < AIM_MS) continue;
    await nextTurn();
    began = performance.now();
  }
}
