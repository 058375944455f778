import type { Extent } from '../model/check/audit.js';
import type { ClickHouseClient } from '../clickhouse/client/client.js';
import { identifier, join, literal, number, sql, value, type Sql } from '../clickhouse/client/sql.js';

/** A table whose rows have the key, and the column that it is in. */
export interface KeyTable {
  readonly table: string;
  readonly column: string;
}

/** Some things of a project: a condition on the column of a table that their keys are in. */
export interface Keys {
  readonly project: string;
  readonly among: (column: Sql) => Sql;
}

/** Rows of a table that are read for one page. */
const ROWS = 20_000;
/** Keys that one statement names. */
const NAMED = 500;
/** How finely a share of all keys is picked. */
const SHARES = 1_000_003;

/** The keys of things that several tables have rows of, a page at a time: all, in their order, or a sample. */
export class KeyPages {
  readonly #client: ClickHouseClient;
  readonly #tables: readonly KeyTable[];

  constructor(client: ClickHouseClient, tables: readonly KeyTable[]) {
    this.#client = client;
    this.#tables = tables;
  }

  /** About how many there are. */
  async total({ sample }: Extent): Promise<number> {
    const all = await this.#about();
    return sample === null ? all : Math.min(all, sample);
  }

  async *pages(extent: Extent): AsyncGenerator<Keys & { readonly count: number }> {
    if (extent.sample !== null) yield* this.#sampled({ ...extent, sample: extent.sample });
    else for (const project of await this.#projects()) yield* this.#ofProject(project);
  }

  async #about(): Promise<number> {
    const counts = this.#tables.map(
      ({ table, column }) => sql`(SELECT uniq(project_id, ${identifier(column)}) FROM ${identifier(table)})`,
    );
    const [row] = await this.#client.query<{ count: string }>(
      sql`SELECT toString(greatest(${join(counts, ', ')})) AS count`,
    );
    return Number(row?.count ?? 0);
  }

  async #projects(): Promise<string[]> {
    const each = this.#tables.map(({ table }) => sql`SELECT DISTINCT project_id AS id FROM ${identifier(table)}`);
    const rows = await this.#client.query<{ id: string }>(
      sql`SELECT DISTINCT toString(id) AS id FROM (${join(each, ' UNION ALL ')}) ORDER BY id`,
    );
    return rows.map(({ id }) => id);
  }

  async *#ofProject(project: string) {
    for (let after: string | null = null; ;) {
      const end: { last: string; more: number; found: string } | undefined = await this.#pageEnd(project, after);
      if (end === undefined || end.found === '0') return;
      const from: string | null = after;
      const to: string | null = end.more === 1 ? end.last : null;
      const among = (column: Sql) => within(column, from, to);
      yield { project, among, count: await this.#count(project, among) };
      if (to === null) return;
      after = to;
    }
  }

  /** Where a page ends, so that it is small in every table. */
  async #pageEnd(project: string, after: string | null) {
    const each = this.#tables.map(({ table, column }) => {
      const key = identifier(column);
      return sql`SELECT count() AS rows, max(id) AS last FROM (SELECT ${key} AS id FROM ${identifier(table)}
        WHERE ${ofProject(project)} AND ${within(key, after, null)} ORDER BY project_id, ${key} LIMIT ${number(ROWS)})`;
    });
    const full = sql`rows = ${number(ROWS)}`;
    const [row] = await this.#client.query<{ last: string; more: number; found: string }>(
      sql`SELECT toString(minIf(last, ${full})) AS last, max(${full}) AS more, toString(sum(rows)) AS found FROM (${join(each, ' UNION ALL ')})`,
    );
    return row;
  }

  async #count(project: string, among: Keys['among']): Promise<number> {
    const each = this.#tables.map(({ table, column }) => {
      const key = identifier(column);
      return sql`SELECT ${key} AS id FROM ${identifier(table)} WHERE ${ofProject(project)} AND ${among(key)}`;
    });
    const [row] = await this.#client.query<{ count: string }>(
      sql`SELECT toString(uniqExact(id)) AS count FROM (${join(each, ' UNION ALL ')})`,
    );
    return Number(row?.count ?? 0);
  }

  async *#sampled({ sample, seed }: { readonly sample: number; readonly seed: number }) {
    const share = Math.min(SHARES, Math.ceil((SHARES * sample) / Math.max(1, await this.#about())));
    const each = this.#tables.map(({ table, column }) => {
      const key = identifier(column);
      return sql`SELECT DISTINCT project_id AS project, ${key} AS id FROM ${identifier(table)}
        WHERE cityHash64(${key}, ${number(seed)}) % ${number(SHARES)} < ${number(share)}`;
    });
    const rows = await this.#client.query<{ project: string; ids: string[] }>(
      sql`SELECT toString(project) AS project, groupArray(toString(id)) AS ids FROM (
         SELECT DISTINCT project, id FROM (${join(each, ' UNION ALL ')}) LIMIT ${number(sample * 2)})
       GROUP BY project ORDER BY project`,
    );
    for (const { project, ids } of rows) yield* named(project, ids);
  }
}

/** Pages of keys that are known. */
export function* named(project: string, ids: readonly string[]): Generator<Keys & { readonly count: number }> {
  for (let from = 0; from < ids.length; from += NAMED) {
    const some = ids.slice(from, from + NAMED);
    const list = value(some, 'Array(UUID)');
    yield { project, among: (column) => sql`${column} IN ${list}`, count: some.length };
  }
}

/** A condition on `project_id`, which does not wait for the project's turn: no client asks. */
export function ofProject(project: string): Sql {
  return sql`project_id = ${literal(project)}`;
}

function within(column: Sql, after: string | null, last: string | null): Sql {
  const from = after === null ? sql`1` : sql`${column} > toUUID(${literal(after)})`;
  return last === null ? from : sql`${from} AND ${column} <= toUUID(${literal(last)})`;
}
