import { setImmediate as nextTurn } from 'node:timers/promises';

/** About how long the event loop may be kept by one portion, in milliseconds. */
const AIM_MS = 10;
const FIRST = 200;
const MOST = 2_000;
/** How much larger the next portion may be than one that took no time. */
const GROWTH = 4;

/**
 * Does synchronous work of many objects in portions, between which others get their turns. How much there is to do of one is
 * not known: a span has one evaluation, or a thousand.
 */
export async function inPortions<T>(
  objects: readonly T[],
  work: (portion: readonly T[]) => void,
  signal?: AbortSignal,
): Promise<void> {
  let size = FIRST;
  for (let from = 0; from < objects.length;) {
    const began = performance.now();
    const portion = objects.slice(from, from + size);
    work(portion);
    from += portion.length;
    const fitting = Math.floor((size * AIM_MS) / Math.max(1, performance.now() - began));
    size = Math.max(1, Math.min(fitting, size * GROWTH, MOST));
    await nextTurn();
    signal?.throwIfAborted();
  }
}
