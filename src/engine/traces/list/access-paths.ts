import type { ListQuery } from '../model/list/query.js';
import type { ReadRows } from '../read/row-reader.js';
import type { ReadScope } from '../read/scope.js';
import type { Sql } from '../clickhouse/client/sql.js';
import { leavesOutPicked } from './experiment-filters.js';
import { accessPathsOf, ALL, entriesEstimated, type AccessPath } from './rows.js';
import type { ListSource } from './sources.js';

/** Reading all rows is quicker than picking more than so many of them by id. */
const WORTH_PICKING = 20_000;
/** So few are picked at once, without a look at the newest or oldest of them first. */
const PICKED_AT_ONCE = 2000;

/** How many rows a statement `EXPLAIN ESTIMATE` says that the indexes leave. */
export async function estimated(read: ReadRows, statement: Sql, signal?: AbortSignal): Promise<number> {
  const parts = await read<{ rows: number | string }>(statement, { signal });
  return parts.reduce((sum, { rows }) => sum + Number(rows), 0);
}

/**
 * The ways to a page, the cheapest first; each but the last may turn out too short. Of rows at some times, the index is asked
 * first how many it has.
 */
export async function accessPaths(
  read: ReadRows,
  source: ListSource,
  scope: ReadScope,
  query: ListQuery,
  signal?: AbortSignal,
): Promise<readonly AccessPath[]> {
  const [first, ...others] = accessPathsOf(source, query);
  // All the newest traces may be of an experiment.
  const again = source.list.hasInternal && first.by === 'edge' && leavesOutPicked(scope, query);
  const paths = again ? [first, { ...first, meant: true } as const, ...others] : [first, ...others];
  const last = paths.at(-1);
  if (last?.by !== 'times') return paths;
  const entries = await estimated(read, entriesEstimated(scope, last), signal);
  if (entries <= PICKED_AT_ONCE) return [last];
  return entries <= WORTH_PICKING ? paths : [...paths.slice(0, -1), ALL];
}
