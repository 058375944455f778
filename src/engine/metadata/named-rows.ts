import type { Named, NamedStore, Unfit } from '../named-store.js';
import { guarded, isDuplicate, transact, type Database } from './database.js';

type Row = Readonly<Record<string, unknown>>;

/** A table of what has names. */
export interface NamedTable<T extends Named> {
  readonly name: string;
  /** Columns beside those that all such tables have. */
  readonly columns: readonly (keyof T & string)[];
  /** Those of them that are stored as JSON. */
  readonly json: readonly (keyof T & string)[];
}

const SHARED = [
  'id',
  'project_id',
  'name',
  'created_at',
  'created_by',
  'updated_at',
] as const satisfies (keyof Named)[];
/** What never changes. */
const FIXED: readonly string[] = ['id', 'project_id', 'created_at', 'created_by'];

/** Tables and columns are names of ours, some of which are words of SQL. */
const quoted = (names: readonly string[]) => names.map((name) => `"${name}"`).join(', ');

function prepare(db: Database, table: string, columns: readonly string[]) {
  const all = quoted(columns);
  const changed = columns.filter((name) => !FIXED.includes(name)).map((name) => `"${name}" = @${name}`);
  return {
    count: db.prepare<[string], number>(`SELECT count(*) FROM ${table} WHERE project_id = ?`).pluck(),
    insert: db.prepare<Row>(`INSERT INTO ${table} (${all}) VALUES (${columns.map((name) => `@${name}`).join(', ')})`),
    find: db.prepare<[string, string], Row>(`SELECT ${all} FROM ${table} WHERE project_id = ? AND id = ?`),
    list: db.prepare<[string], Row>(`SELECT ${all} FROM ${table} WHERE project_id = ? ORDER BY name`),
    replace: db.prepare<Row>(`UPDATE ${table} SET ${changed.join(', ')} WHERE project_id = @project_id AND id = @id`),
    remove: db.prepare<[string, string]>(`DELETE FROM ${table} WHERE project_id = ? AND id = ?`),
  };
}

/** What has names, in a table of the SQLite file. */
export class NamedRows<T extends Named> implements NamedStore<T> {
  readonly #db: Database;
  readonly #json: readonly string[];
  readonly #statements: ReturnType<typeof prepare>;

  constructor(db: Database, { name, columns, json }: NamedTable<T>) {
    this.#db = db;
    this.#json = json;
    this.#statements = prepare(db, name, [...SHARED, ...columns]);
  }

  insert(row: T, most: number): Unfit | null {
    const { count, insert } = this.#statements;
    return this.#written(() => {
      if ((count.get(row.project_id) ?? 0) >= most) return 'full';
      insert.run(this.#toRow(row));
      return null;
    });
  }

  find(projectId: string, id: string): T | undefined {
    const row = guarded(() => this.#statements.find.get(projectId, id));
    return row && this.#fromRow(row);
  }

  list(projectId: string): T[] {
    return guarded(() => this.#statements.list.all(projectId)).map((row) => this.#fromRow(row));
  }

  replace(row: T): Unfit | null {
    return this.#written(() => {
      this.#statements.replace.run(this.#toRow(row));
      return null;
    });
  }

  remove(projectId: string, id: string): void {
    guarded(() => this.#statements.remove.run(projectId, id));
  }

  #written(work: () => Unfit | null): Unfit | null {
    try {
      return transact(this.#db, work);
    } catch (error) {
      if (isDuplicate(error)) return 'taken';
      throw error;
    }
  }

  #toRow(row: T): Row {
    const values = row as unknown as Row;
    return { ...values, ...this.#each(values, (value) => (value === null ? null : JSON.stringify(value))) };
  }

  #fromRow(row: Row): T {
    const read = (value: unknown) => (typeof value === 'string' ? (JSON.parse(value) as unknown) : value);
    return { ...row, ...this.#each(row, read) } as unknown as T;
  }

  #each(row: Row, to: (value: unknown) => unknown): Row {
    return Object.fromEntries(this.#json.map((name) => [name, to(row[name])]));
  }
}
