import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Window } from '../../engine/schema/page.js';
import { PAGE_BYTES, type Between, type Changes, type RowChange, type RowReads, type RowState } from './dataset.js';

/** Row ids that are looked at together: some milliseconds of work. */
const AT_ONCE = 1_000;

export interface VersionDiff {
  readonly counts: Changes;
  /** A page of the rows that differ, by id. */
  readonly rows: RowChange[];
}

/**
 * How two versions of a dataset differ. Walks all its rows, in portions between which others have their turns.
 * @throws DomainError `unavailable`, and the signal's reason
 */
export async function diffVersions(
  rows: Pick<RowReads, 'states' | 'contents'>,
  datasetId: string,
  versions: Between,
  { limit, offset }: Window,
  signal: AbortSignal,
): Promise<VersionDiff> {
  const counts = { added: 0, changed: 0, removed: 0 };
  const changes: RowChange[] = [];
  let [seen, left] = [0, PAGE_BYTES];
  for (let after = ''; ;) {
    const states = rows.states(datasetId, versions, after, AT_ONCE);
    for (const state of states) {
      const change = changeOf(state);
      if (change === null) continue;
      counts[change] += 1;
      seen += 1;
      if (seen <= offset || changes.length >= limit || left <= 0) continue;
      const [before, now] = contentsOf(rows, state);
      changes.push({ row_id: state.row_id, change, before, after: now });
      left -= (before?.length ?? 0) + (now?.length ?? 0);
    }
    const last = states.at(-1);
    if (last === undefined) return { counts, rows: changes };
    after = last.row_id;
    await nextTurn();
    signal.throwIfAborted();
  }
}

function changeOf({ before, after }: RowState): keyof Changes | null {
  if (before === null) return after === null ? null : 'added';
  if (after === null) return 'removed';
  return before.content === after.content ? null : 'changed';
}

function contentsOf(rows: Pick<RowReads, 'contents'>, { before, after }: RowState): [string | null, string | null] {
  const [first, second] = [before?.content ?? null, after?.content ?? null];
  const texts = rows.contents([first, second].filter((number) => number !== null));
  return [texts.get(first ?? 0) ?? null, texts.get(second ?? 0) ?? null];
}
