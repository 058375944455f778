import { guarded, type Database } from '../../../engine/metadata/database.js';
import type { Window } from '../../../engine/schema/page.js';
import type { Changes, DatasetRow, NewRow, RowChange, RowPlace, RowReads, WalkedRow } from '../dataset.js';
import { DATASET, isIn } from './row-sql.js';

interface OfVersion {
  readonly id: string;
  readonly number: number;
}

interface ReadRow extends RowPlace {
  readonly row_id: string;
  readonly content: string;
  readonly trace_id: string | null;
  readonly span_id: string | null;
}

interface Between {
  readonly id: string;
  readonly from: number;
  readonly to: number;
}

const between = (column: string) => `${column} > min(@from, @to) AND ${column} <= max(@from, @to)`;
/** SQL for the ids of rows that begin or end between two versions, as `t`, and the rows `b` and `a` of both. */
const BOTH = `(
    SELECT row_id FROM dataset_rows WHERE dataset = ${DATASET} AND ${between('from_version')}
    UNION SELECT row_id FROM dataset_rows WHERE dataset = ${DATASET} AND ${between('to_version')}
  ) AS t
  LEFT JOIN dataset_rows AS b ON b.dataset = ${DATASET} AND b.row_id = t.row_id AND ${isIn('b', '@from')}
  LEFT JOIN dataset_rows AS a ON a.dataset = ${DATASET} AND a.row_id = t.row_id AND ${isIn('a', '@to')}
  WHERE (b.seq IS NULL) <> (a.seq IS NULL) OR (b.seq IS NOT NULL AND b.content IS NOT a.content)`;
const CHANGE = `CASE WHEN b.seq IS NULL THEN 'added' WHEN a.seq IS NULL THEN 'removed' ELSE 'changed' END`;
const contentOf = (alias: string) => `(SELECT content FROM dataset_contents WHERE seq = ${alias}.content)`;
/** SQL for the rows of a version with what they say. Without being told, SQLite takes an index that sorts all of them for each page. */
const READ = `SELECT r.seq, r.position, r.row_id, c.content, r.trace_id, r.span_id
  FROM dataset_rows AS r INDEXED BY dataset_rows_in_order CROSS JOIN dataset_contents AS c ON c.seq = r.content
  WHERE r.dataset = ${DATASET} AND ${isIn('r', '@number')}`;
const IN_VERSION = `r.dataset = ${DATASET} AND ${isIn('r', '@number')}`;

function prepare(db: Database) {
  return {
    page: db.prepare<OfVersion & Window, ReadRow>(`${READ} ORDER BY r.position, r.seq LIMIT @limit OFFSET @offset`),
    behind: db.prepare<OfVersion & RowPlace & { limit: number }, ReadRow>(
      `${READ} AND (r.position, r.seq) > (@position, @seq) ORDER BY r.position, r.seq LIMIT @limit`,
    ),
    saying: db
      .prepare<OfVersion & { hash: Buffer; rowId: string }, string>(
        `SELECT r.row_id FROM dataset_contents AS c CROSS JOIN dataset_rows AS r INDEXED BY dataset_rows_by_content ON r.content = c.seq
         WHERE c.dataset = ${DATASET} AND c.hash = @hash AND ${isIn('r', '@number')} AND r.row_id <> @rowId LIMIT 1`,
      )
      .pluck(),
    erased: db
      .prepare<OfVersion, number>(
        `SELECT count(*) FROM dataset_rows AS r INDEXED BY dataset_rows_erased WHERE ${IN_VERSION} AND r.content IS NULL`,
      )
      .pluck(),
    changes: db.prepare<Between & Window, RowChange>(
      `SELECT t.row_id, ${CHANGE} AS change, ${contentOf('b')} AS before, ${contentOf('a')} AS after
       FROM ${BOTH} ORDER BY t.row_id LIMIT @limit OFFSET @offset`,
    ),
    countChanges: db.prepare<Between, { change: keyof Changes; rows: number }>(
      `SELECT ${CHANGE} AS change, count(*) AS rows FROM ${BOTH} GROUP BY change`,
    ),
  };
}

/** Rows of the versions of datasets, from the SQLite file. */
export class SqliteRowReads implements RowReads {
  readonly #statements: ReturnType<typeof prepare>;

  constructor(db: Database) {
    this.#statements = prepare(db);
  }

  page(id: string, number: number, window: Window, bytes: number): DatasetRow[] {
    return guarded(() => within(bytes, this.#statements.page.iterate({ id, number, ...window })).map(toRow));
  }

  walk(id: string, number: number, after: RowPlace, { limit, bytes }: { limit: number; bytes: number }): WalkedRow[] {
    const rows = guarded(() => within(bytes, this.#statements.behind.iterate({ id, number, ...after, limit })));
    return rows.map((row) => ({ ...toRow(row), place: { position: row.position, seq: row.seq } }));
  }

  hasOther(id: string, number: number, { row_id: rowId, hash }: Pick<NewRow, 'row_id' | 'hash'>): boolean {
    return guarded(() => this.#statements.saying.get({ id, number, hash, rowId })) !== undefined;
  }

  countErased(id: string, number: number): number {
    return guarded(() => this.#statements.erased.get({ id, number }) ?? 0);
  }

  changes(id: string, from: number, to: number, window: Window, bytes: number): RowChange[] {
    return guarded(() => within(bytes, this.#statements.changes.iterate({ id, from, to, ...window })));
  }

  countChanges(id: string, from: number, to: number): Changes {
    const rows = guarded(() => this.#statements.countChanges.all({ id, from, to }));
    const counts = Object.fromEntries(rows.map(({ change, rows: count }) => [change, count]));
    return { added: 0, changed: 0, removed: 0, ...counts };
  }
}

/** The first rows, of about so many bytes at most; one at least, where there is any. */
function within<R extends object>(bytes: number, rows: Iterable<R>): R[] {
  const taken: R[] = [];
  let left = bytes;
  for (const row of rows) {
    taken.push(row);
    for (const value of Object.values(row)) if (typeof value === 'string') left -= value.length;
    if (left <= 0) break;
  }
  return taken;
}

function toRow({ row_id, content, trace_id, span_id }: ReadRow): DatasetRow {
  return { row_id, content, source: span_id === null ? null : { trace_id: trace_id ?? '', span_id } };
}
