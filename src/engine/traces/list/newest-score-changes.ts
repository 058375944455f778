import type { Sql } from '../clickhouse/client/sql.js';
import type { ReadRows } from '../read/row-reader.js';
import type { ReadScope } from '../read/scope.js';
import type { Version } from '../write/version-clock.js';
import type { Filling } from './fillings.js';
import { sessionsChanged, tracesChanged } from './newest-score-statements.js';
import { sessionSource, traceSource } from './sources.js';

/** Where more changed, all is filled in anew. */
export const MAX_CHANGED = 20_000;

/** Objects of each filling that may have another newest score than is stored. @param written the last version of the project that was stored */
export async function changedOf(
  rows: ReadRows,
  scope: ReadScope,
  opened: readonly Filling[],
  written: Version,
  signal?: AbortSignal,
): Promise<ReadonlyMap<Filling, readonly string[]>> {
  const changed = new Map<Filling, readonly string[]>();
  const older = opened.filter(({ upTo }) => upTo < written);
  const read = async (statement: Sql) =>
    (await rows<{ object: string }>(statement, { signal })).map(({ object }) => object);
  // Names that were filled in, or stored again, as of one state have the same traces to look at.
  for (const since of new Set(older.map(({ upTo }) => upTo))) {
    const some = older.filter(({ upTo }) => upTo === since);
    const names = [...new Set(some.map(({ name }) => name))];
    const traces = await read(tracesChanged(scope, names, since, MAX_CHANGED + 1));
    for (const filling of some.filter(({ source }) => source === traceSource)) changed.set(filling, traces);
    const ofSessions = some.filter(({ source }) => source === sessionSource);
    if (ofSessions.length === 0) continue;
    const isMany = traces.length > MAX_CHANGED;
    const sessions = isMany ? traces : await read(sessionsChanged(scope, ofSessions, since, traces, MAX_CHANGED + 1));
    for (const filling of ofSessions) changed.set(filling, sessions);
  }
  for (const filling of older)
    if (changed.get(filling)?.length === 0) filling.upTo = Math.max(filling.upTo, scope.upTo);
  return changed;
}
