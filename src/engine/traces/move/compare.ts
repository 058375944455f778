import { DomainError } from '../../errors.js';
import type { ClickHouseClient } from '../clickhouse/client/client.js';
import { literal, number, sql, type Sql } from '../clickhouse/client/sql.js';
import type { Version } from '../write/version-clock.js';
import {
  changedOf,
  replacedFigures,
  ROLLED_UP_LISTS,
  rolledUpFigures,
  rowHashes,
  spanFigures,
  SPANS,
  type Figures,
  type RolledUpList,
} from './list-figures.js';
import { ofProject, portionEnd, within, type Portion } from './portions.js';
import type { MovedTable } from './moved-tables.js';

/** Spans whose figures are compared at once. */
const SPANS_AT_ONCE = 500_000;
/** Traces or sessions: where some were written to meanwhile, the hashes of so many rows are held in memory. */
const ROWS_AT_ONCE = 50_000;
/** Ids that one statement names: ClickHouse takes 256 KiB of text. */
const IDS_AT_ONCE = 5_000;

/** The two places that hold a project. */
export interface Compared {
  readonly source: ClickHouseClient;
  readonly target: ClickHouseClient;
  readonly project: string;
}

/**
 * Compares what all lists show of a project in two places: counts, sums, and each row by its hash. The source may be written to
 * meanwhile, so traces and sessions that were recomputed since may differ: {@link requireSameChanges} compares these.
 * @param upTo the version up to which everything is in the figures of both places
 * @throws DomainError `conflict` with what differs
 */
export async function requireSameLists(compared: Compared, upTo: Version): Promise<void> {
  const { source, target, project } = compared;
  for await (const rows of portionsOf(source, SPANS, project, SPANS_AT_ONCE)) {
    const figures = (client: ClickHouseClient) => spanFigures(client, project, rows, upTo);
    requireSame('spans', project, ...(await Promise.all([figures(target), figures(source)])));
  }
  for (const list of ROLLED_UP_LISTS)
    for await (const rows of portionsOf(source, list.table, project, ROWS_AT_ONCE)) {
      const figures = (client: ClickHouseClient) => rolledUpFigures(client, project, rows, list);
      const [is, should] = await Promise.all([figures(target), figures(source)]);
      if (different(is, should).length > 0 && !(await differsByChanges(compared, rows, list, upTo)))
        requireSame(list.list, project, is, should);
    }
}

/**
 * Compares what changed in the lists of a project since a version as of which they were the same. Nothing may be written to
 * either place.
 * @throws DomainError `conflict` with what differs
 */
export async function requireSameChanges(
  { source, target, project }: Compared,
  since: Version,
  upTo: Version,
): Promise<void> {
  const own = sql`project_id = ${literal(project)}`;
  const same = async (list: string, figures: (client: ClickHouseClient) => Promise<Figures>) =>
    requireSame(list, project, ...(await Promise.all([figures(target), figures(source)])));
  const later = sql`${own} AND ver > ${number(since)}`;
  await same('spans', (client) => spanFigures(client, project, later, upTo));
  await same('spans', (client) => replacedFigures(client, project, since, upTo));
  for (const list of ROLLED_UP_LISTS) {
    const rows = sql`${own} AND ${list.id} IN (${list.changed(project, since)})`;
    await same(list.list, (client) => rolledUpFigures(client, project, rows, list));
  }
}

/** Whether all rows that differ are of traces or sessions that were written to since. */
async function differsByChanges(
  { source, target, project }: Compared,
  rows: Sql,
  of: RolledUpList,
  since: Version,
): Promise<boolean> {
  const hashes = (client: ClickHouseClient) => rowHashes(client, project, rows, of);
  const [is, should] = await Promise.all([hashes(target), hashes(source)]);
  const ids = new Set<string>();
  for (const [key, { id }] of [...is, ...should]) if (is.get(key)?.hash !== should.get(key)?.hash) ids.add(id);
  const all = [...ids];
  for (let at = 0; at < all.length; at += IDS_AT_ONCE) {
    const some = all.slice(at, at + IDS_AT_ONCE);
    // Asked for after the rows were read, so that what they show was written by then.
    const changed = await changedOf(source, project, since, { of, ids: some });
    if (some.some((id) => !changed.has(id))) return false;
  }
  return true;
}

/** Conditions on rows of a project, one portion after the other. Behind the last row of the source, the target must have none either. */
async function* portionsOf(client: ClickHouseClient, table: MovedTable, project: string, rows: number) {
  const extent = ofProject(table, project, null);
  let from: string | null = null;
  do {
    const to: string | null = await portionEnd(client, extent, from, rows);
    yield within({ ...extent, from, to } satisfies Portion);
    from = to;
  } while (from !== null);
}

function different(is: Figures, should: Figures): string[] {
  return Object.keys(should).filter((name) => is[name] !== should[name]);
}

function requireSame(list: string, project: string, is: Figures, should: Figures): void {
  const names = different(is, should);
  if (names.length === 0) return;
  const each = names.map((name) => `${name} ${is[name]} instead of ${should[name]}`).join(', ');
  throw new DomainError(
    'conflict',
    `The moved ${list} of project ${project} differ: ${each}. Nothing was changed; the server continues with the spans as they ` +
      'are. Remove the target, run the move again, and report this if it happens again',
  );
}
