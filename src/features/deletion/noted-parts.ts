import { setImmediate as nextTurn } from 'node:timers/promises';
import type { DeletedThing } from '../../engine/traces/model/deletion/stored-spans.js';

/** Things that are noted in one transaction: so few that it takes a few milliseconds. */
const NOTED_AT_ONCE = 2_000;

/** Things in parts that are noted one by one; in between, others have their turn. */
export async function* inParts(pages: AsyncIterable<readonly DeletedThing[]>): AsyncGenerator<readonly DeletedThing[]> {
  for await (const page of pages)
    for (let from = 0; from < page.length; from += NOTED_AT_ONCE) {
      if (from > 0) await nextTurn();
      yield page.slice(from, from + NOTED_AT_ONCE);
    }
}
