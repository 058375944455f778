import pLimit from 'p-limit';
import { JobPaused } from './job.js';

/** Items of a job worked on at once; the client of the model has its own limit. */
const ITEMS_AT_ONCE = 8;

/**
 * Works on every item, a few at a time; when one fails, `attempt` is aborted, unless it only waits. Resolves or rejects when no work on an item
 * runs any more.
 */
export async function workOnEach<I, O>(
  items: readonly I[],
  work: (item: I) => Promise<O>,
  attempt: AbortController,
  signal: AbortSignal,
): Promise<O[]> {
  const failures: unknown[] = [];
  const results = await pLimit(ITEMS_AT_ONCE).map(items, async (item): Promise<O[]> => {
    if (signal.aborted) return [];
    try {
      return [await work(item)];
    } catch (error) {
      failures.push(error);
      // What is under way is paid for: it ends, and is kept.
      if (!(error instanceof JobPaused)) attempt.abort();
      return [];
    }
  });
  if (failures.length > 0) throw failures[0];
  signal.throwIfAborted();
  return results.flat();
}
