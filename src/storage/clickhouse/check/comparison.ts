import type { ClickHouseClient } from '../client/client.js';
import { deleteRows } from '../client/mutations.js';
import { empty, identifier, join, literal, sql, type Sql } from '../client/sql.js';
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
  /** Version that its row must have; null: there must be no row. */
  readonly version: string | null;
  /** Hash of the figures that the row must have. */
  readonly hash: string;
  /** Names of the figures that differ; empty: there is no row. */
  readonly differing: readonly string[];
}

interface Row {
  readonly keys: string[];
  readonly ver: string;
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
 * Things whose stored rows are wrong. The row with the right version has to be there with the right figures, and no other
 * with that version or a higher one: which of them counts is decided by merges.
 * @param recount a query of the keys, `ver` and the figures
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
    )}] AS keys, toString(version) AS ver, toString(cityHash64(right)) AS hash, right,
  arrayElement(arrayFilter(x -> x.1 = version, rows), -1).2 AS stored
FROM (SELECT ${keys}, ver AS version, ${texts(table)} AS right FROM (${recount})) AS recounted
FULL OUTER JOIN (
  SELECT ${keys}, groupArray((ver, texts)) AS rows
  FROM (SELECT ${keys}, ver, ${texts(table)} AS texts FROM ${identifier(table.table)} WHERE ${stored})
  GROUP BY ${keys}
) AS kept USING (${keys})
WHERE if(version = 0,
  arrayReduce('argMax', rows.2, rows.1) != ['gone'],
  arrayExists(x -> x.1 > version OR (x.1 = version AND x.2 != right), rows)
    OR (right != ['gone'] AND NOT arrayExists(x -> x.1 = version, rows)))`,
  );
  return rows.map(({ keys: of, ver, hash, right, stored: kept }) => ({
    keys: of,
    version: ver === '0' ? null : ver,
    hash,
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

/** Rows of some things but for the right one of each. Lists are texts: a thousand expressions take long to analyse. */
function wrongRows(table: FigureTable, project: string, wrong: readonly Mismatch[]): Sql {
  const list = (type: 'UInt128' | 'UInt64' | 'String', of: (mismatch: Mismatch) => string) =>
    sql`CAST(${literal(`[${wrong.map((each) => (type === 'String' ? `'${of(each)}'` : of(each))).join(',')}]`)}, ${literal(`Array(${type})`)})`;
  const first = identifier(table.keys[0] ?? '');
  const texted = table.keys.map((key) => sql`toString(${identifier(key)})`);
  const at = sql`indexOf(${list('String', ({ keys }) => keys.join(''))}, concat(${join([...texted, literal('')], ', ')}))`;
  const right = sql`${list('UInt128', ({ version }) => version ?? '0')}[${at}]`;
  const hash = sql`${list('UInt64', (each) => each.hash)}[${at}]`;
  const ids = join(
    wrong.map(({ keys }) => literal(keys[0] ?? '')),
    ', ',
  );
  return sql`${ofProject(project)} AND ${first} IN (${ids})
    AND ${at} > 0 AND (${right} = 0 OR ver > ${right} OR (ver = ${right} AND cityHash64(${texts(table)}) != ${hash}))`;
}

/** What is wrong, for people. */
export function detailOf({ version, differing: names }: Mismatch): string {
  if (version === null) return 'nothing of it is stored';
  return names.length === 0
    ? 'its row is missing, or of a state that nothing stored has'
    : `differs in ${names.join(', ')}`;
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
