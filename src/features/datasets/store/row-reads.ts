import { guarded, type Database } from '../../../engine/metadata/database.js';
import type { Window } from '../../../engine/schema/page.js';
import type { Micros } from '../../../engine/timestamp.js';
import type {
  Between,
  DatasetRow,
  NewRow,
  PlacedId,
  RowOrigin,
  RowPlace,
  RowReads,
  RowSource,
  RowState,
  WalkedRow,
} from '../dataset.js';
import { DATASET, isIn } from './row-sql.js';

interface OfVersion {
  readonly id: string;
  readonly number: number;
}

interface StateRow {
  readonly row_id: string;
  readonly before: number | null;
  readonly said_before: number | null;
  readonly after: number | null;
  readonly said_after: number | null;
}

interface ReadRow extends RowPlace {
  readonly row_id: string;
  readonly content: string;
  readonly trace_id: string | null;
  readonly span_id: string | null;
}

interface OriginRow extends Pick<ReadRow, 'row_id' | 'trace_id' | 'span_id'> {
  readonly changed_at: Micros;
}

/** SQL for the rows of a version with what they say. Without being told, SQLite takes an index that sorts all of them for each page. */
const READ = `SELECT r.seq, r.position, r.row_id, c.content, r.trace_id, r.span_id
  FROM dataset_rows AS r INDEXED BY dataset_rows_in_order CROSS JOIN dataset_contents AS c ON c.seq = r.content
  WHERE r.dataset = ${DATASET} AND ${isIn('r', '@number')}`;
/** SQL for rows of a version by their ids. */
const named = (value: string) => `SELECT r.row_id, ${value} AS value
  FROM json_each(@ids) AS i CROSS JOIN dataset_rows AS r INDEXED BY sqlite_autoindex_dataset_rows_1
  CROSS JOIN dataset_contents AS c ON c.seq = r.content
  WHERE r.dataset = ${DATASET} AND r.row_id = i.value AND ${isIn('r', '@number')}`;
const IN_VERSION = `r.dataset = ${DATASET} AND ${isIn('r', '@number')}`;

/** SQL for what two versions have of rows. */
const STATES = `SELECT row_id,
    max(CASE WHEN ${isIn('r', '@from')} THEN seq END) AS before, max(CASE WHEN ${isIn('r', '@from')} THEN content END) AS said_before,
    max(CASE WHEN ${isIn('r', '@to')} THEN seq END) AS after, max(CASE WHEN ${isIn('r', '@to')} THEN content END) AS said_after
  FROM dataset_rows AS r WHERE dataset = ${DATASET}`;

function prepare(db: Database) {
  return {
    page: db.prepare<OfVersion & Window, ReadRow>(`${READ} ORDER BY r.position, r.seq LIMIT @limit OFFSET @offset`),
    behind: db.prepare<OfVersion & RowPlace & { limit: number }, ReadRow>(
      `${READ} AND (r.position, r.seq) > (@position, @seq) ORDER BY r.position, r.seq LIMIT @limit`,
    ),
    ids: db.prepare<OfVersion & RowPlace & { limit: number }, PlacedId>(
      `SELECT r.row_id, r.position, r.seq FROM dataset_rows AS r INDEXED BY dataset_rows_in_order
       WHERE ${IN_VERSION} AND r.content IS NOT NULL AND (r.position, r.seq) > (@position, @seq)
       ORDER BY r.position, r.seq LIMIT @limit`,
    ),
    sizes: db.prepare<OfVersion & { ids: string }, { row_id: string; value: number }>(named('octet_length(c.content)')),
    named: db.prepare<OfVersion & { ids: string }, { row_id: string; value: string }>(named('c.content')),
    origins: db.prepare<OfVersion & { ids: string }, OriginRow>(
      `SELECT r.row_id, r.trace_id, r.span_id, (SELECT created_at FROM dataset_versions WHERE dataset_id = @id AND number = r.from_version) AS changed_at
       FROM json_each(@ids) AS i CROSS JOIN dataset_rows AS r INDEXED BY sqlite_autoindex_dataset_rows_1
       WHERE ${IN_VERSION} AND r.row_id = i.value AND r.content IS NOT NULL`,
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
    states: db.prepare<Between & { id: string; after: string; limit: number }, StateRow>(
      `${STATES} AND row_id > @after GROUP BY row_id ORDER BY row_id LIMIT @limit`,
    ),
    statesOf: db.prepare<Between & { id: string; rowIds: string }, StateRow>(
      `${STATES} AND row_id IN (SELECT value FROM json_each(@rowIds)) GROUP BY row_id`,
    ),
    contents: db.prepare<[string], { seq: number; content: string }>(
      'SELECT seq, content FROM dataset_contents WHERE seq IN (SELECT value FROM json_each(?))',
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

  ids(id: string, number: number, after: RowPlace, limit: number): PlacedId[] {
    return guarded(() => this.#statements.ids.all({ id, number, position: after.position, seq: after.seq, limit }));
  }

  sizes(id: string, number: number, rowIds: readonly string[]): ReadonlyMap<string, number> {
    const rows = guarded(() => this.#statements.sizes.all({ id, number, ids: JSON.stringify(rowIds) }));
    return new Map(rows.map(({ row_id, value }) => [row_id, value]));
  }

  named(id: string, number: number, rowIds: readonly string[]): ReadonlyMap<string, string> {
    const rows = guarded(() => this.#statements.named.all({ id, number, ids: JSON.stringify(rowIds) }));
    return new Map(rows.map(({ row_id, value }) => [row_id, value]));
  }

  origins(id: string, number: number, rowIds: readonly string[]): ReadonlyMap<string, RowOrigin> {
    const rows = guarded(() => this.#statements.origins.all({ id, number, ids: JSON.stringify(rowIds) }));
    return new Map(rows.map(({ row_id, changed_at, ...from }) => [row_id, { source: sourceOf(from), changed_at }]));
  }

  hasOther(id: string, number: number, { row_id: rowId, hash }: Pick<NewRow, 'row_id' | 'hash'>): boolean {
    return guarded(() => this.#statements.saying.get({ id, number, hash, rowId })) !== undefined;
  }

  countErased(id: string, number: number): number {
    return guarded(() => this.#statements.erased.get({ id, number }) ?? 0);
  }

  states(id: string, versions: Between, after: string, limit: number): RowState[] {
    return guarded(() => this.#statements.states.all({ id, ...versions, after, limit })).map(toState);
  }

  statesOf(id: string, versions: Between, rowIds: readonly string[]): RowState[] {
    return guarded(() => this.#statements.statesOf.all({ id, ...versions, rowIds: JSON.stringify(rowIds) })).map(
      toState,
    );
  }

  contents(numbers: readonly number[]): ReadonlyMap<number, string> {
    const rows = guarded(() => this.#statements.contents.all(JSON.stringify(numbers)));
    return new Map(rows.map(({ seq, content }) => [seq, content]));
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

function toState({ row_id, before, said_before, after, said_after }: StateRow): RowState {
  return {
    row_id,
    before: before === null ? null : { content: said_before },
    after: after === null ? null : { content: said_after },
  };
}

function toRow({ row_id, content, ...from }: ReadRow): DatasetRow {
  return { row_id, content, source: sourceOf(from) };
}

function sourceOf({ trace_id, span_id }: Pick<ReadRow, 'trace_id' | 'span_id'>): RowSource | null {
  return span_id === null ? null : { trace_id: trace_id ?? '', span_id };
}
