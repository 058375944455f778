import type { ClickHouseClient } from '../clickhouse/client/client.js';
import { deleteRows } from '../clickhouse/client/mutations.js';
import { empty, identifier, join, literal, sql, type Sql } from '../clickhouse/client/sql.js';
import { stateOf } from '../rollup/row-version.js';
import { ofProject } from './keys.js';

/** Rows of figures that are stored, and how they are recounted. */
export interface FigureTable {
  readonly table: string;
  /** Columns that name a thing, beside the project. */
  readonly keys: readonly string[];
  /** Columns that are compared. */
  readonly figures: readonly string[];
  /** Whether a row says that there is nothing; then its figures are not compared. */
  readonly gone: Sql;
}

/** A thing whose stored row is not what its figures are when they are recounted. */
export interface Mismatch {
  /** Values of the keys. */
  readonly keys: readonly string[];
  /** The latest state that its rows may be of, as {@link stateOf} says; null: there must be no row. */
  readonly state: string | null;
  /** Hash of the figures that the row must have. */
  readonly hash: string;
  /** What was compared: where that changes, it was written to or recomputed meanwhile. */
  readonly compared: string;
  /** Names of the figures that differ; empty: there is no row. */
  readonly differing: readonly string[];
}

interface Row {
  readonly keys: string[];
  readonly latest: string;
  readonly highest: string;
  readonly hash: string;
  readonly right: string[];
  readonly stored: string[];
}

/** Texts of a row's figures, whatever their types. */
function texts({ figures, gone }: FigureTable): Sql {
  const each = figures.map((name) => {
    const column = identifier(name);
    return name === 'tags' ? sql`toString(mapSort(${column}))` : sql`ifNull(toString(${column}), 'null')`;
  });
  return sql`if(${gone}, ['gone'], [${join(each, ', ')}])`;
}

/**
 * Things whose stored rows are wrong. The row with the highest version has to have the right figures, and so has any other with
 * that version: which of them counts is decided by merges. None may be of a state that nothing stored has: it would count for
 * more than what is computed later.
 * @param recount a query of the keys, `state` and the figures
 * @param stored a condition on the table's rows
 */
export async function mismatches(
  client: ClickHouseClient,
  table: FigureTable,
  recount: Sql,
  stored: Sql,
): Promise<Mismatch[]> {
  const keys = join(table.keys.map(identifier), ', ');
  const rows = await client.query<Row>(
    sql`SELECT [${join(
      table.keys.map((key) => sql`toString(${identifier(key)})`),
      ', ',
    )}] AS keys, toString(state) AS latest, toString(cityHash64(right)) AS hash, right,
  arrayMax(rows.1) AS top, toString(top) AS highest, arrayElement(arrayFilter(x -> x.1 = top AND x.2 != right, rows), -1).2 AS stored
FROM (SELECT ${keys}, state, ${texts(table)} AS right FROM (${recount})) AS recounted
FULL OUTER JOIN (
  SELECT ${keys}, groupArray((ver, texts)) AS rows
  FROM (SELECT ${keys}, ver, ${texts(table)} AS texts FROM ${identifier(table.table)} WHERE ${stored})
  GROUP BY ${keys}
) AS kept USING (${keys})
WHERE if(state = 0,
  arrayReduce('argMax', rows.2, rows.1) != ['gone'],
  arrayExists(x -> ${stateOf(sql`x.1`)} > state OR (x.1 = top AND x.2 != right), rows) OR (right != ['gone'] AND empty(rows)))`,
  );
  return rows.map(({ keys: of, latest, highest, hash, right, stored: kept }) => ({
    keys: of,
    state: latest === '0' ? null : latest,
    hash,
    compared: `${latest} ${highest} ${hash}`,
    differing: differing(table, right, kept),
  }));
}

function differing({ figures }: FigureTable, right: readonly string[], stored: readonly string[]): string[] {
  if (stored.length === 0) return [];
  return stored.length === right.length ? figures.filter((_, at) => stored[at] !== right[at]) : ['whether it is there'];
}

/** The most things that one statement removes rows of. */
const REMOVED_AT_ONCE = 1_000;

/** Removes rows that are wrong. What is right has to be stored before: it stays. */
export async function removeWrong(
  client: ClickHouseClient,
  table: FigureTable,
  project: string,
  wrong: readonly Mismatch[],
): Promise<void> {
  for (let from = 0; from < wrong.length; from += REMOVED_AT_ONCE)
    await deleteRows(client, table.table, wrongRows(table, project, wrong.slice(from, from + REMOVED_AT_ONCE)));
}

/**
 * Rows of some things with other figures than the right ones, or of a state that nothing stored has. Those that were computed
 * without their tags stay: there may be no other. Lists are texts: a thousand expressions take long to analyze.
 */
function wrongRows(table: FigureTable, project: string, wrong: readonly Mismatch[]): Sql {
  const list = (type: 'UInt128' | 'UInt64' | 'String', of: (mismatch: Mismatch) => string) =>
    sql`CAST(${literal(`[${wrong.map((each) => (type === 'String' ? `'${of(each)}'` : of(each))).join(',')}]`)}, ${literal(`Array(${type})`)})`;
  const first = identifier(table.keys[0] ?? '');
  const texted = table.keys.map((key) => sql`toString(${identifier(key)})`);
  const at = sql`indexOf(${list('String', ({ keys }) => keys.join(''))}, concat(${join([...texted, literal('')], ', ')}))`;
  const right = sql`${list('UInt128', ({ state }) => state ?? '0')}[${at}]`;
  const hash = sql`${list('UInt64', (each) => each.hash)}[${at}]`;
  const ids = join(
    wrong.map(({ keys }) => literal(keys[0] ?? '')),
    ', ',
  );
  return sql`${ofProject(project)} AND ${first} IN (${ids})
    AND ${at} > 0 AND (${right} = 0 OR ${stateOf(sql`ver`)} > ${right} OR (ver % 2 = 1 AND cityHash64(${texts(table)}) != ${hash}))`;
}

/** What is wrong, for people. */
export function detailOf({ state, differing: names }: Mismatch): string {
  if (state === null) return 'no data of it is stored';
  return names.length === 0 ? 'its row is missing or does not match stored data' : `differs in ${names.join(', ')}`;
}

/** Traces or sessions that are not in the index by time of their list, and the time that is looked for. @param among conditions on their `id` */
export async function notByTime(
  client: ClickHouseClient,
  kind: 'trace' | 'session',
  project: string,
  among: Sql,
): Promise<{ id: string; state: string }[]> {
  const time = kind === 'trace' ? sql`started_at` : sql`created_ver`;
  const indexed = kind === 'trace' ? sql` AND NOT internal` : empty;
  const rows = sql`SELECT ${time}, id FROM ${identifier(`${kind}s`)} FINAL WHERE ${ofProject(project)} AND ${among} AND NOT gone${indexed}`;
  const found = await client.query<{ key: string; state: string }>(
    sql`SELECT toString(id) AS key, toString(${time}) AS state FROM (${rows})
WHERE (${time}, id) NOT IN (
  SELECT ${time}, id FROM ${identifier(`${kind}_starts`)} WHERE ${ofProject(project)} AND (${time}, id) IN (${rows}))`,
  );
  return found.map(({ key, state }) => ({ id: key, state }));
}
