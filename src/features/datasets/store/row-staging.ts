import { DomainError } from '../../../engine/errors.js';
import { guarded, transact, type Database } from '../../../engine/metadata/database.js';
import { LAST_DELETION } from '../../../engine/metadata/deletion-numbers.js';
import {
  MAX_DATASET_BYTES,
  MAX_ROWS,
  ROW_OVERHEAD_BYTES,
  tooManyRows,
  type DatasetVersion,
  type NewRow,
  type Places,
  type RowStaging,
  type Staged,
} from '../dataset.js';
import { datasetRemoval } from './dataset-removal.js';
import { contentRemoval } from './row-erasure.js';
import { AT_ONCE, DATASET, isIn, TEXTS_AT_ONCE } from './row-sql.js';

interface Stored {
  readonly seq: number;
  readonly last_version: number;
  readonly bytes: number;
}

interface Current {
  readonly seq: number;
  readonly position: number;
  readonly from_version: number;
  readonly content: number | null;
  readonly to_version: number | null;
  readonly trace_id: string | null;
  readonly span_id: string | null;
  readonly after_deletion: number;
}

interface OfRow {
  readonly dataset: number;
  readonly rowId: string;
  readonly number: number;
}

function prepare(db: Database) {
  const staged = `SELECT seq FROM dataset_rows WHERE dataset = @seq AND from_version > @last_version LIMIT ${TEXTS_AT_ONCE}`;
  const ended = `SELECT seq FROM dataset_rows WHERE dataset = @seq AND to_version > @last_version LIMIT ${AT_ONCE}`;
  return {
    dataset: db.prepare<[string], Stored>('SELECT seq, last_version, bytes FROM datasets WHERE id = ?'),
    unfinished: db
      .prepare<[], string>(
        `SELECT d.id FROM datasets AS d WHERE d.deleted_at IS NULL
           AND (EXISTS (SELECT 1 FROM dataset_rows WHERE dataset = d.seq AND from_version > d.last_version)
             OR EXISTS (SELECT 1 FROM dataset_rows WHERE dataset = d.seq AND to_version > d.last_version))`,
      )
      .pluck(),
    dropStaged: db
      .prepare<Stored, number | null>(`DELETE FROM dataset_rows WHERE seq IN (${staged}) RETURNING content`)
      .pluck(),
    reopen: db.prepare<Stored>(`UPDATE dataset_rows SET to_version = NULL WHERE seq IN (${ended})`),
    current: db.prepare<OfRow, Current>(
      `SELECT seq, position, from_version, content, to_version, trace_id, span_id, after_deletion FROM dataset_rows
       WHERE dataset = @dataset AND row_id = @rowId AND (to_version IS NULL OR to_version = @number)
       ORDER BY from_version DESC LIMIT 1`,
    ),
    before: db
      .prepare<OfRow, number | null>(
        'SELECT content FROM dataset_rows WHERE dataset = @dataset AND row_id = @rowId AND to_version = @number',
      )
      .pluck(),
    content: db
      .prepare<[number, Buffer], number>('SELECT seq FROM dataset_contents WHERE dataset = ? AND hash = ?')
      .pluck(),
    insertContent: db
      .prepare<[number, Buffer, string], number>(
        'INSERT INTO dataset_contents (dataset, hash, content) VALUES (?, ?, ?) RETURNING seq',
      )
      .pluck(),
    addBytes: db.prepare<[number, number]>('UPDATE datasets SET bytes = bytes + ? WHERE seq = ?'),
    insert: db.prepare<object>(
      `INSERT INTO dataset_rows (dataset, row_id, position, from_version, content, trace_id, span_id, after_deletion)
       VALUES (@dataset, @rowId, @position, @number, @content, @trace_id, @span_id, coalesce(@after_deletion, ${LAST_DELETION}))`,
    ),
    end: db.prepare<[number, number]>('UPDATE dataset_rows SET to_version = ? WHERE seq = ?'),
    say: db.prepare<{ seq: number; content: number; trace_id: string | null; span_id: string | null }>(
      `UPDATE dataset_rows SET content = @content, trace_id = coalesce(@trace_id, trace_id), span_id = coalesce(@span_id, span_id),
         after_deletion = iif(@trace_id IS NULL, after_deletion, ${LAST_DELETION})
       WHERE seq = @seq`,
    ),
    staying: db
      .prepare<{ seq: number; last_version: number; after: string; limit: number }, string>(
        `SELECT row_id FROM dataset_rows
         WHERE dataset = @seq AND row_id > @after AND from_version <= @last_version AND to_version IS NULL
         ORDER BY row_id LIMIT @limit`,
      )
      .pluck(),
    lastPosition: db
      .prepare<{ id: string }, number>(
        `SELECT r.position FROM dataset_rows AS r INDEXED BY dataset_rows_in_order
         WHERE r.dataset = ${DATASET} AND ${isIn('r', '(SELECT last_version FROM datasets WHERE id = @id)')}
         ORDER BY r.position DESC, r.seq DESC LIMIT 1`,
      )
      .pluck(),
    insertVersion: db.prepare<object>(
      `INSERT INTO dataset_versions (id, dataset_id, number, message, columns, row_count, added, changed, removed, created_at, created_by)
       VALUES (@id, @dataset_id, @number, @message, @columns, @row_count, @added, @changed, @removed, @created_at, @created_by)`,
    ),
    amendVersion: db.prepare<object>(
      `UPDATE dataset_versions SET columns = @columns, row_count = @row_count, added = @added, changed = @changed WHERE id = @id`,
    ),
    publish: db.prepare<{ number: number; at: number; id: string }>(
      `UPDATE datasets SET last_version = @number, updated_at = @at
       WHERE id = @id AND deleted_at IS NULL AND last_version = @number - 1`,
    ),
  };
}

/** Makes versions of datasets, and removes datasets, in the SQLite file. */
export class SqliteRowStaging implements RowStaging {
  readonly #db: Database;
  readonly #statements: ReturnType<typeof prepare>;
  readonly #removeContent: ReturnType<typeof contentRemoval>;
  readonly #removeSome: ReturnType<typeof datasetRemoval>;

  constructor(db: Database) {
    this.#db = db;
    this.#statements = prepare(db);
    this.#removeContent = contentRemoval(db);
    this.#removeSome = datasetRemoval(db);
  }

  unfinished(): string[] {
    return guarded(() => this.#statements.unfinished.all());
  }

  dropStaged(id: string): boolean {
    const { dropStaged, reopen } = this.#statements;
    return this.#transaction(id, (dataset) => {
      const contents = dropStaged.all(dataset);
      for (const content of contents) if (content !== null) this.#removeContent(content);
      this.#statements.addBytes.run(-ROW_OVERHEAD_BYTES * contents.length, dataset.seq);
      return contents.length > 0 || reopen.run(dataset).changes > 0;
    });
  }

  stage(id: string, number: number, rows: readonly NewRow[], { after, keepsPlaces }: Places): Staged {
    const { current, content, end } = this.#statements;
    return this.#making(id, number, ({ seq: dataset, bytes }) => {
      let [added, changed, moved, position, newBytes] = [0, 0, false, after, 0];
      for (const row of rows) {
        const of = { dataset, rowId: row.row_id, number };
        const known = current.get(of);
        const said = content.get(dataset, row.hash);
        const isSame = known !== undefined && said !== undefined && known.content === said;
        if (isSame && (keepsPlaces || known.position > position)) {
          if (!keepsPlaces) position = known.position;
          continue;
        }
        const stays = keepsPlaces && known !== undefined;
        if (!stays) position += 1;
        newBytes += this.#insert(of, row, { known, said, position: stays ? known.position : position });
        if (known === undefined) added += 1;
        else if (isSame) moved = true;
        else changed += 1;
        if (known !== undefined) end.run(number, known.seq);
      }
      requireBytes(bytes + newBytes, newBytes);
      return { added, changed, moved, position };
    });
  }

  staying(id: string, after: string, limit: number): string[] {
    const { dataset, staying } = this.#statements;
    return guarded(() => {
      const { seq = 0, last_version = 0 } = dataset.get(id) ?? {};
      return staying.all({ seq, last_version, after, limit });
    });
  }

  drop(id: string, number: number, rowIds: readonly string[]): number {
    const { current, end } = this.#statements;
    return this.#making(id, number, ({ seq: dataset }) => {
      let dropped = 0;
      for (const rowId of rowIds) {
        const known = current.get({ dataset, rowId, number });
        if (known === undefined || known.to_version !== null) continue;
        end.run(number, known.seq);
        dropped += 1;
      }
      return dropped;
    });
  }

  has(id: string, rowId: string): boolean {
    const { dataset, current } = this.#statements;
    return guarded(() => {
      const { seq = 0, last_version = 0 } = dataset.get(id) ?? {};
      const row = current.get({ dataset: seq, rowId, number: last_version + 1 });
      return row !== undefined;
    });
  }

  lastPosition(id: string): number {
    return guarded(() => this.#statements.lastPosition.get({ id }) ?? 0);
  }

  publish(version: DatasetVersion): void {
    const { insertVersion, publish } = this.#statements;
    const { dataset_id: id, number, created_at: at, columns } = version;
    this.#making(id, number, () => {
      if (publish.run({ number, at, id }).changes === 0) throw deleted();
      insertVersion.run({ ...version, columns: JSON.stringify(columns) });
    });
  }

  put(version: DatasetVersion, rows: readonly NewRow[], isOpen: boolean): DatasetVersion | null {
    const { insertVersion, publish, amendVersion } = this.#statements;
    const { dataset_id: id, number, created_at: at } = version;
    return this.#making(id, isOpen ? number + 1 : number, ({ seq: dataset, bytes }) => {
      let [added, changed, newBytes, position] = [0, 0, 0, this.#statements.lastPosition.get({ id }) ?? 0];
      let isSame = true;
      for (const row of rows) {
        const put = this.#put({ dataset, rowId: row.row_id, number }, row, position);
        if (put === null) continue;
        isSame = false;
        newBytes += put.bytes;
        position += put.added;
        added += put.added;
        changed += put.changed;
      }
      if (isSame) return null;
      const made = { ...version, row_count: version.row_count + added };
      if (made.row_count > MAX_ROWS) throw tooManyRows();
      requireBytes(bytes + newBytes, newBytes);
      const counted = { ...made, added: made.added + added, changed: made.changed + changed };
      if (!isOpen && publish.run({ number, at, id }).changes === 0) throw deleted();
      const stored = { ...counted, columns: JSON.stringify(counted.columns) };
      if (isOpen) amendVersion.run(stored);
      else insertVersion.run(stored);
      return counted;
    });
  }

  /**
   * Makes a row of the version say something.
   * @returns what the counts of the version and the bytes grow by; null: it says that already
   */
  #put(
    of: OfRow,
    row: NewRow,
    position: number,
  ): { readonly added: number; readonly changed: number; readonly bytes: number } | null {
    const { current, before, content, end, say } = this.#statements;
    const known = current.get(of);
    const said = content.get(of.dataset, row.hash);
    const isSaid = said !== undefined && known?.content === said;
    const { trace_id = null, span_id = null } = row.source ?? {};
    const isMoved = row.source !== undefined && (trace_id !== known?.trace_id || span_id !== known.span_id);
    if (isSaid && !isMoved) return null;
    if (known?.from_version !== of.number) {
      const bytes = this.#insert(of, row, { known, said, position: known?.position ?? position + 1 });
      if (known !== undefined) end.run(of.number, known.seq);
      const isNew = known === undefined;
      return { added: isNew ? 1 : 0, changed: isNew || isSaid ? 0 : 1, bytes };
    }
    // The version has it since it is open: no one has seen what it said, and what counts is what the version before said.
    const now = said ?? this.#insertContent(of.dataset, row);
    const earlier = before.get(of);
    const differs = (from: number | null) => (earlier !== undefined && earlier !== from ? 1 : 0);
    say.run({ seq: known.seq, content: now, trace_id, span_id });
    if (known.content !== null && !isSaid) this.#removeContent(known.content);
    return { added: 0, changed: differs(now) - differs(known.content), bytes: said === undefined ? row.bytes : 0 };
  }

  #insertContent(dataset: number, { hash, content, bytes }: NewRow): number {
    const seq = this.#statements.insertContent.get(dataset, hash, content);
    if (seq === undefined) throw new Error('The content of a row was not stored');
    this.#statements.addBytes.run(bytes, dataset);
    return seq;
  }

  removeSome(): boolean {
    return this.#removeSome();
  }

  /**
   * A row that was made of a span stays one whatever is said of it later, so that it goes with the span.
   * @returns bytes that the dataset has more
   */
  #insert(
    of: OfRow,
    row: NewRow,
    { known, said, position }: { known: Current | undefined; said: number | undefined; position: number },
  ): number {
    const seq = said ?? this.#insertContent(of.dataset, row);
    this.#statements.addBytes.run(ROW_OVERHEAD_BYTES, of.dataset);
    const { source } = row;
    const from = source ?? known;
    const { trace_id = null, span_id = null, after_deletion = null } = from ?? {};
    this.#statements.insert.run({ ...of, content: seq, position, trace_id, span_id, after_deletion });
    return ROW_OVERHEAD_BYTES + (said === undefined ? row.bytes : 0);
  }

  /** As {@link #transaction}, of the version that follows the newest. @throws DomainError `conflict` where an import made that */
  #making<T>(id: string, number: number, work: (dataset: Stored) => T): T {
    return this.#transaction(id, (dataset) => {
      if (dataset.last_version !== number - 1)
        throw new DomainError('conflict', 'Another version was created in the meantime. Retry.');
      return work(dataset);
    });
  }

  /** @throws DomainError `not_found` */
  #transaction<T>(id: string, work: (dataset: Stored) => T): T {
    const { dataset } = this.#statements;
    return transact(this.#db, () => {
      const stored = dataset.get(id);
      if (stored === undefined) throw deleted();
      return work(stored);
    });
  }
}

/** @throws DomainError `too_large` */
function requireBytes(bytes: number, added: number): void {
  if (added > 0 && bytes > MAX_DATASET_BYTES)
    throw new DomainError(
      'too_large',
      `A dataset can have at most ${MAX_DATASET_BYTES} bytes of rows in all its versions`,
    );
}

const deleted = () => new DomainError('not_found', 'The dataset was deleted in the meantime');
