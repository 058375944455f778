import type { ClickHouseClient } from '../clickhouse/client/client.js';
import { identifier, join, literal, number, sql, type Sql } from '../clickhouse/client/sql.js';
import type { Version } from '../write/version-clock.js';
import { ROLLED_UP, WRITTEN, type MovedTable } from './moved-tables.js';
import { fingerprint, rowHash, storedColumns } from './portions.js';

/** What lists say of some rows, each as a text: count, sums, and all rows by their hash. */
export type Figures = Readonly<Record<string, string>>;

const table = (name: string) => [...WRITTEN, ...ROLLED_UP].find((each) => each.name === name) as MovedTable;

export const SPANS = table('spans');

/** A list whose rows rounds compute. */
export interface RolledUpList {
  readonly list: string;
  readonly table: MovedTable;
  /** Tells rows apart within a project. */
  readonly key: Sql;
  /** The trace or session that a row is computed for. */
  readonly id: Sql;
  readonly sums: readonly string[];
  /** Rows that the list shows, and that are computed whole in both places. */
  readonly listed: (project: string) => Sql;
  /** Traces or sessions that may have been recomputed since a version, as a SELECT of one column `changed`. */
  readonly changed: (project: string, since: Version) => Sql;
  /** The index by time without which no list finds a row, and the column that it is by. Null: there is none. */
  readonly index: { readonly table: string; readonly start: string; readonly has: (project: string) => Sql } | null;
}

/** Says in which round sessions were computed, which differs and is no figure. */
const NO_FIGURES: ReadonlySet<string> = new Set(['round', 'ver']);
const SUMS = ['cost', 'input_tokens', 'output_tokens', 'error_count'];

export const ROLLED_UP_LISTS: readonly RolledUpList[] = [
  {
    list: 'traces',
    table: table('traces'),
    key: sql`toString(id)`,
    id: sql`id`,
    sums: [...SUMS, 'span_count'],
    listed: (project) => sql`NOT gone AND id NOT IN (${aside(project, 'trace')})`,
    changed: changedTraces,
    index: { table: 'trace_starts', start: 'started_at', has: () => sql`NOT internal` },
  },
  {
    list: 'sessions',
    table: table('sessions'),
    key: sql`toString(id)`,
    id: sql`id`,
    sums: [...SUMS, 'trace_count'],
    listed: (project) => sql`NOT gone AND id NOT IN (${aside(project, 'session')})`,
    changed: changedSessions,
    index: {
      table: 'session_starts',
      start: 'created_ver',
      has: (project) => sql`id NOT IN (${aside(project, 'session')})`,
    },
  },
  {
    list: 'traces of sessions',
    table: table('session_traces'),
    key: sql`concat(toString(session_id), toString(trace_id))`,
    id: sql`trace_id`,
    sums: [],
    listed: (project) =>
      sql`trace_id NOT IN (${aside(project, 'trace')}) AND session_id NOT IN (${aside(project, 'session')})`,
    changed: changedTraces,
    index: null,
  },
];

/** Figures of the spans that count as of a version. @param rows which spans, of one project */
export async function spanFigures(
  client: ClickHouseClient,
  project: string,
  rows: Sql,
  upTo: Version,
): Promise<Figures> {
  const columns = ['ver', 'trace_id', 'id', 'cost', 'duration_ms', 'input_tokens', 'output_tokens', 'has_error'];
  const [row] = await client.query<Figures>(
    sql`SELECT toString(count()) AS count, ${totals(['cost', 'input_tokens', 'output_tokens', 'has_error'])},
      toString(sum(toInt128(round(duration_ms * 1000000)))) AS duration, ${fingerprint(columns)} AS rows
     FROM spans WHERE ${rows} AND ver <= ${number(upTo)}
       AND ver NOT IN (SELECT ver FROM superseded WHERE project_id = ${literal(project)} AND next_ver <= ${number(upTo)})`,
  );
  return row ?? {};
}

/** Figures of which spans, of all up to a version, were replaced or deleted between it and a later one. */
export async function replacedFigures(
  client: ClickHouseClient,
  project: string,
  since: Version,
  upTo: Version,
): Promise<Figures> {
  const [row] = await client.query<Figures>(
    sql`SELECT toString(count()) AS replaced, toString(sum(cityHash64(ver))) AS versions FROM (
      SELECT DISTINCT ver FROM superseded WHERE project_id = ${literal(project)}
        AND ver <= ${number(since)} AND next_ver > ${number(since)} AND next_ver <= ${number(upTo)})`,
  );
  return row ?? {};
}

/** Figures of some rows of a list. @param rows which, of one project, by its key or ids, which its index by time has as well */
export async function rolledUpFigures(
  client: ClickHouseClient,
  project: string,
  rows: Sql,
  of: RolledUpList,
): Promise<Figures> {
  const each = of.sums.length === 0 ? sql`1 AS one` : totals(of.sums);
  const [row] = await client.query<Figures>(
    sql`SELECT toString(count()) AS count, ${each}, ${fingerprint(await figureColumns(client, of))} AS rows
     FROM (SELECT * FROM ${identifier(of.table.name)} FINAL WHERE ${rows}) WHERE ${of.listed(project)}`,
  );
  return { ...row, ...(await unlisted(client, project, rows, of)) };
}

/** The rows themselves, by their hashes. @param rows few enough to be held in memory */
export async function rowHashes(
  client: ClickHouseClient,
  project: string,
  rows: Sql,
  of: RolledUpList,
): Promise<Map<string, { readonly id: string; readonly hash: string }>> {
  const found = await client.query<{ key: string; owner: string; hash: string }>(
    sql`SELECT ${of.key} AS key, toString(${of.id}) AS owner, toString(${rowHash(await figureColumns(client, of))}) AS hash
     FROM (SELECT * FROM ${identifier(of.table.name)} FINAL WHERE ${rows}) WHERE ${of.listed(project)}`,
  );
  return new Map(found.map(({ key, owner, hash }) => [key, { id: owner, hash }]));
}

/** Which of some traces or sessions may have been recomputed since a version. */
export async function changedOf(
  client: ClickHouseClient,
  project: string,
  since: Version,
  { of, ids }: { readonly of: RolledUpList; readonly ids: readonly string[] },
): Promise<Set<string>> {
  const named = join(
    ids.map((id) => literal(id)),
    ', ',
  );
  const found = await client.query<{ id: string }>(
    sql`SELECT DISTINCT toString(changed) AS id FROM (${of.changed(project, since)}) WHERE changed IN (${named})`,
  );
  return new Set(found.map(({ id }) => id));
}

/** Rows that the index by time lacks: none, in both places. */
async function unlisted(client: ClickHouseClient, project: string, rows: Sql, of: RolledUpList): Promise<Figures> {
  if (of.index === null) return {};
  const start = identifier(of.index.start);
  const [row] = await client.query<{ missing: string }>(
    sql`SELECT toString(count()) AS missing FROM (SELECT * FROM ${identifier(of.table.name)} FINAL WHERE ${rows})
     WHERE NOT gone AND ${of.index.has(project)}
       AND (id, ${start}) NOT IN (SELECT id, ${start} FROM ${identifier(of.index.table)} WHERE ${rows})`,
  );
  return { 'missing from the index': row?.missing ?? '' };
}

async function figureColumns(client: ClickHouseClient, { table: { name } }: RolledUpList): Promise<string[]> {
  return (await storedColumns(client, name)).filter((column) => !NO_FIGURES.has(column));
}

function changedTraces(project: string, since: Version): Sql {
  const own = literal(project);
  return sql`SELECT trace_id AS changed FROM facts WHERE project_id = ${own} AND ver > ${number(since)} ${triedAgain(project, 'trace')}`;
}

function changedSessions(project: string, since: Version): Sql {
  const own = literal(project);
  return sql`SELECT session_id AS changed FROM session_traces
      WHERE project_id = ${own} AND trace_id IN (${changedTraces(project, since)})
    UNION ALL SELECT session_id AS changed FROM session_statements WHERE project_id = ${own} AND ver > ${number(since)}
    ${triedAgain(project, 'session')}`;
}

/** What is, or was, set aside is recomputed without having been written to. */
function triedAgain(project: string, kind: 'trace' | 'session'): Sql {
  return sql`UNION ALL SELECT id AS changed FROM set_aside WHERE project_id = ${literal(project)} AND kind = ${literal(kind)}`;
}

/** Traces, or sessions of such, that could not be computed whole, perhaps in one place alone. */
function aside(project: string, kind: 'trace' | 'session'): Sql {
  const own = literal(project);
  const ids = sql`SELECT id FROM set_aside FINAL WHERE project_id = ${own} AND kind = ${literal(kind)} AND aside`;
  if (kind === 'trace') return ids;
  const traces = sql`SELECT id FROM set_aside FINAL WHERE project_id = ${own} AND kind = 'trace' AND aside`;
  return sql`${ids} UNION ALL SELECT session_id FROM session_traces WHERE project_id = ${own} AND trace_id IN (${traces})`;
}

function totals(columns: readonly string[]): Sql {
  return join(
    columns.map((name) => sql`toString(sum(${identifier(name)})) AS ${identifier(`total_${name}`)}`),
    ', ',
  );
}
