/** As many requests as wait at a time, so that the server stores them together. */
const AT_ONCE = 24;

/**
 * Does the work for every item, several at a time, beginning in their order.
 * @param progress told how many are through
 */
export async function forEach<T>(
  items: readonly T[],
  work: (item: T) => Promise<unknown>,
  progress?: (done: number) => void,
): Promise<void> {
  const left = items.values();
  let done = 0;
  const take = async () => {
    for (const item of left) {
      await work(item);
      progress?.((done += 1));
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, take));
}
