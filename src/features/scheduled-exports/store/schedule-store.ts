import { guarded, transact, type Database } from '../../../engine/metadata/database.js';
import type { State } from '../../../engine/traces/model/list/tail.js';
import type { Micros } from '../../../engine/timestamp.js';
import type { Exported, Schedule, ScheduleStore } from '../schedule.js';

type Row = Omit<Schedule, 'paused'> & { readonly paused: 0 | 1 };

const COLUMNS = [
  ...(['id', 'project_id', 'name', 'list', 'query', 'format', 'every_minutes', 'paused', 'exported_to'] as const),
  ...(['object', 'object_to', 'next_at', 'objects', 'rows', 'last_object', 'last_at', 'failures', 'error'] as const),
  ...(['created_at', 'created_by'] as const),
] as const satisfies readonly (keyof Row)[];
const ALL = COLUMNS.join(', ');
/** Rows that an export waits for: with as many, further ones that are set aside are not exported before they change. */
const MAX_LEFT_OUT = 1_000;

function prepare(db: Database) {
  return {
    count: db.prepare<[string], number>('SELECT count(*) FROM scheduled_exports WHERE project_id = ?').pluck(),
    insert: db.prepare<Row>(
      `INSERT INTO scheduled_exports (${ALL}) VALUES (${COLUMNS.map((name) => `@${name}`).join(', ')})`,
    ),
    find: db.prepare<[string, string], Row>(`SELECT ${ALL} FROM scheduled_exports WHERE project_id = ? AND id = ?`),
    list: db.prepare<[string], Row>(`SELECT ${ALL} FROM scheduled_exports WHERE project_id = ? ORDER BY seq`),
    change: db.prepare<{ id: string; name: string; every_minutes: number; paused: 0 | 1; next_at: Micros }>(
      `UPDATE scheduled_exports SET name = @name, every_minutes = @every_minutes, paused = @paused, next_at = @next_at
       WHERE id = @id`,
    ),
    remove: db.prepare<[string]>('DELETE FROM scheduled_exports WHERE id = ?'),
    due: db.prepare<[Micros, number], Row>(
      `SELECT ${ALL} FROM scheduled_exports INDEXED BY scheduled_exports_due
       WHERE paused = 0 AND next_at <= ? ORDER BY next_at LIMIT ?`,
    ),
    nextAt: db
      .prepare<[], Micros | null>(
        'SELECT min(next_at) FROM scheduled_exports INDEXED BY scheduled_exports_due WHERE paused = 0',
      )
      .pluck(),
    begin: db.prepare<{ id: string; object: string; to: State }>(
      'UPDATE scheduled_exports SET object = @object, object_to = @to WHERE id = @id',
    ),
    finish: db.prepare<Omit<Exported, 'leftOut' | 'caughtUp'> & { id: string; made: 0 | 1 }>(
      `UPDATE scheduled_exports SET exported_to = @to, object = NULL, object_to = NULL, failures = 0,
         next_at = iif(next_at = @planned, @next_at, min(next_at, @next_at)),
         error = NULL, objects = objects + @made, rows = rows + @rows, last_object = coalesce(@object, last_object),
         last_at = iif(@made = 1, @at, last_at) WHERE id = @id`,
    ),
    leftOut: db
      .prepare<[string, number], string>('SELECT row_id FROM scheduled_export_left_out WHERE export_id = ? LIMIT ?')
      .pluck(),
    leave: db.prepare<[string, string, number]>(
      `INSERT OR IGNORE INTO scheduled_export_left_out (export_id, row_id)
       SELECT e.id, s.value FROM scheduled_exports AS e, json_each(?) AS s WHERE e.id = ?
         AND (SELECT count(*) FROM scheduled_export_left_out AS l WHERE l.export_id = e.id) < ?`,
    ),
    catchUp: db.prepare<[string, string]>(
      'DELETE FROM scheduled_export_left_out WHERE export_id = ? AND row_id IN (SELECT value FROM json_each(?))',
    ),
    fail: db.prepare<{ id: string; error: string; nextAt: Micros }>(
      'UPDATE scheduled_exports SET failures = failures + 1, error = @error, next_at = @nextAt WHERE id = @id',
    ),
  };
}

/** Schedules in the SQLite file. */
export class SqliteScheduleStore implements ScheduleStore {
  readonly #db: Database;
  readonly #statements: ReturnType<typeof prepare>;

  constructor(db: Database) {
    this.#db = db;
    this.#statements = prepare(db);
  }

  insert(schedule: Schedule, most: number): boolean {
    const { count, insert } = this.#statements;
    return transact(this.#db, () => {
      if ((count.get(schedule.project_id) ?? 0) >= most) return false;
      insert.run({ ...schedule, paused: schedule.paused ? 1 : 0 });
      return true;
    });
  }

  find(projectId: string, id: string): Schedule | undefined {
    const row = guarded(() => this.#statements.find.get(projectId, id));
    return row && toSchedule(row);
  }

  list(projectId: string): Schedule[] {
    return guarded(() => this.#statements.list.all(projectId)).map(toSchedule);
  }

  change(id: string, change: Pick<Schedule, 'name' | 'every_minutes' | 'paused' | 'next_at'>): void {
    guarded(() => this.#statements.change.run({ id, ...change, paused: change.paused ? 1 : 0 }));
  }

  remove(id: string): void {
    guarded(() => this.#statements.remove.run(id));
  }

  due(now: Micros, limit: number): Schedule[] {
    return guarded(() => this.#statements.due.all(now, limit)).map(toSchedule);
  }

  nextAt(): Micros | null {
    return guarded(() => this.#statements.nextAt.get() ?? null);
  }

  begin(id: string, object: string, to: State): boolean {
    return guarded(() => this.#statements.begin.run({ id, object, to }).changes > 0);
  }

  leftOut(id: string, limit: number): string[] {
    return guarded(() => this.#statements.leftOut.all(id, limit));
  }

  finish(id: string, { leftOut, caughtUp, ...exported }: Exported): void {
    const { finish, leave, catchUp } = this.#statements;
    transact(this.#db, () => {
      finish.run({ id, ...exported, made: exported.object === null ? 0 : 1 });
      if (caughtUp.length > 0) catchUp.run(id, JSON.stringify(caughtUp));
      if (leftOut.length > 0) leave.run(JSON.stringify(leftOut), id, MAX_LEFT_OUT);
    });
  }

  fail(id: string, error: string, nextAt: Micros): void {
    guarded(() => this.#statements.fail.run({ id, error, nextAt }));
  }
}

function toSchedule({ paused, ...row }: Row): Schedule {
  return { ...row, paused: paused === 1 };
}
