import type { ClickHouseClient } from '../clickhouse/client/client.js';
import { identifier, join, literal, number, sql, type Sql } from '../clickhouse/client/sql.js';
import type { Version } from '../write/version-clock.js';
import type { KeyKind, MovedTable } from './moved-tables.js';

/** Rows of a table that are taken one portion after the other, by a key. */
export interface Extent {
  readonly table: string;
  readonly key: string;
  readonly kind: KeyKind;
  /** The project of the rows; null: all projects. */
  readonly project: string | null;
  /** The last version that is taken; null: rows have none, or all are. */
  readonly upTo: Version | null;
  /** Where rows have their version; default: `ver`. */
  readonly version?: 'ver' | 'indexed_to';
}

/** A portion: rows with a key after `from`, up to and with `to`. */
export interface Portion extends Extent {
  /** Null: from the first row on. */
  readonly from: string | null;
  /** Null: up to the last row. */
  readonly to: string | null;
}

export function ofProject({ name, key, kind }: MovedTable, project: string, upTo: Version | null): Extent {
  return { table: name, key, kind, project, upTo };
}

/** What was written after another extent was taken. */
export function writtenUpTo({ name }: MovedTable, upTo: Version): Extent {
  return { table: name, key: 'ver', kind: 'version', project: null, upTo };
}

/** The condition that rows of a portion meet, without parameters. */
export function within({ key, kind, project, upTo, version = 'ver', from, to }: Portion): Sql {
  const column = identifier(key);
  const parts = [
    ...(project === null ? [] : [sql`project_id = ${literal(project)}`]),
    ...(from === null ? [] : [sql`${column} > ${keyLiteral(kind, from)}`]),
    ...(to === null ? [] : [sql`${column} <= ${keyLiteral(kind, to)}`]),
    ...(upTo === null ? [] : [sql`${identifier(version)} <= ${number(upTo)}`]),
  ];
  return parts.length === 0 ? sql`1` : join(parts, ' AND ');
}

/** The key that the next portion of about so many rows ends with; null: there are no more rows. */
export async function portionEnd(
  client: ClickHouseClient,
  extent: Extent,
  from: string | null,
  rows: number,
): Promise<string | null> {
  const { table, key, kind, project } = extent;
  const column = identifier(key);
  // In the order of the table, so that not more is read than is asked for.
  const order = project === null ? column : sql`project_id, ${column}`;
  const [row] = await client.query<{ rows: string; last: string }>(
    sql`SELECT toString(count()) AS rows, ${keyText(kind, sql`max(found)`)} AS last FROM (
      SELECT ${column} AS found FROM ${identifier(table)} WHERE ${within({ ...extent, from, to: null })}
      ORDER BY ${order} LIMIT ${number(rows)})`,
  );
  return row === undefined || row.rows === '0' ? null : row.last;
}

/** The columns of a table that are stored, and in another place stored as they are. */
export async function storedColumns(client: ClickHouseClient, table: string): Promise<string[]> {
  const rows = await client.query<{ name: string }>(
    sql`SELECT name FROM system.columns WHERE database = currentDatabase() AND table = ${literal(table)}
     AND default_kind NOT IN ('ALIAS', 'MATERIALIZED') ORDER BY position`,
  );
  return rows.map(({ name }) => name);
}

/** A number that two sets of rows have in common only when they are equal, for all that matters. */
export function fingerprint(columns: readonly string[]): Sql {
  return sql`toString(sum(${rowHash(columns)}))`;
}

export function rowHash(columns: readonly string[]): Sql {
  const hashed = columns.map((name) => identifier(name));
  return sql`cityHash64(tuple(${join(hashed, ', ')}))`;
}

function keyText(kind: KeyKind, key: Sql): Sql {
  return kind === 'time' ? sql`toString(toUnixTimestamp64Micro(${key}))` : sql`toString(${key})`;
}

function keyLiteral(kind: KeyKind, key: string): Sql {
  if (kind === 'uuid') return sql`toUUID(${literal(key)})`;
  return kind === 'time' ? sql`fromUnixTimestamp64Micro(toInt64(${number(key)}), 'UTC')` : number(key);
}
