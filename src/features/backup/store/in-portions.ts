import type { LimitFunction } from 'p-limit';

const PORTION = 1_000;

/** Works on all, as many at once as the limit lets. What waits takes a kilobyte each, so it does so in portions: there may be millions. */
export async function inPortions<Item, Result>(
  items: readonly Item[],
  limit: LimitFunction,
  work: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  for (let at = 0; at < items.length; at += PORTION)
    results.push(...(await limit.map(items.slice(at, at + PORTION), work)));
  return results;
}
