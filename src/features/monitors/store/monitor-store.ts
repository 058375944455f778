import { guarded, transact, type Database } from '../../../engine/metadata/database.js';
import type { Window } from '../../../engine/schema/page.js';
import type { Micros } from '../../../engine/timestamp.js';
import type { Condition } from '../condition.js';
import {
  MAX_CHANGES,
  type Monitor,
  type MonitorSettings,
  type MonitorStore,
  type Outcome,
  type StateChange,
} from '../monitor.js';

interface Row extends Omit<Monitor, 'condition' | 'enabled'> {
  readonly condition: string;
  readonly enabled: 0 | 1;
}

const COLUMNS = [
  ...(['id', 'project_id', 'name', 'condition', 'revision', 'enabled', 'muted_until'] as const),
  ...(['state', 'alarm', 'told', 'since', 'created_at', 'created_by'] as const),
] as const satisfies readonly (keyof Row)[];
const ALL = COLUMNS.join(', ');

type Changed = Pick<Row, 'id' | 'name' | 'condition' | 'enabled' | 'muted_until'>;

function prepare(db: Database) {
  return {
    count: db.prepare<[string], number>('SELECT count(*) FROM monitors WHERE project_id = ?').pluck(),
    insert: db.prepare<Row>(`INSERT INTO monitors (${ALL}) VALUES (${COLUMNS.map((name) => `@${name}`).join(', ')})`),
    find: db.prepare<[string, string], Row>(`SELECT ${ALL} FROM monitors WHERE project_id = ? AND id = ?`),
    list: db.prepare<[string], Row>(`SELECT ${ALL} FROM monitors WHERE project_id = ? ORDER BY seq`),
    change: db.prepare<Changed>(
      'UPDATE monitors SET name = @name, condition = @condition, enabled = @enabled, muted_until = @muted_until WHERE id = @id',
    ),
    begin: db.prepare<{ id: string; at: Micros }>(
      "UPDATE monitors SET revision = revision + 1, state = 'no_data', alarm = NULL, since = @at WHERE id = @id",
    ),
    removeChanges: db.prepare<[string]>(
      'DELETE FROM monitor_changes WHERE monitor = (SELECT seq FROM monitors WHERE id = ?)',
    ),
    remove: db.prepare<[string]>('DELETE FROM monitors WHERE id = ?'),
    projects: db.prepare<[], string>('SELECT DISTINCT project_id FROM monitors WHERE enabled = 1').pluck(),
    enabled: db.prepare<[string], Row>(`SELECT ${ALL} FROM monitors WHERE project_id = ? AND enabled = 1 ORDER BY seq`),
    record: db.prepare<Outcome & Pick<Monitor, 'id' | 'muted_until'>>(
      `UPDATE monitors SET since = iif(state = @state, since, @at), state = @state, alarm = @alarm, told = @told
       WHERE id = @id AND revision = @revision AND enabled = 1 AND muted_until IS @muted_until`,
    ),
    state: db.prepare<[string], string>('SELECT state FROM monitors WHERE id = ?').pluck(),
    noteChange: db.prepare<StateChange & { id: string }>(
      `INSERT INTO monitor_changes (monitor, at, state, value, count)
       SELECT seq, @at, @state, @value, @count FROM monitors WHERE id = @id`,
    ),
    removeOld: db.prepare<{ id: string; most: number }>(
      `DELETE FROM monitor_changes WHERE seq IN (
         SELECT c.seq FROM monitor_changes AS c JOIN monitors AS m ON m.seq = c.monitor
         WHERE m.id = @id ORDER BY c.seq DESC LIMIT -1 OFFSET @most)`,
    ),
    changes: db.prepare<Window & { id: string }, StateChange>(
      `SELECT c.at, c.state, c.value, c.count FROM monitors AS m JOIN monitor_changes AS c ON c.monitor = m.seq
       WHERE m.id = @id ORDER BY c.seq DESC LIMIT @limit OFFSET @offset`,
    ),
  };
}

/** Monitors in the SQLite file. */
export class SqliteMonitorStore implements MonitorStore {
  readonly #db: Database;
  readonly #statements: ReturnType<typeof prepare>;

  constructor(db: Database) {
    this.#db = db;
    this.#statements = prepare(db);
  }

  insert(monitor: Monitor, most: number): boolean {
    const { count, insert } = this.#statements;
    return transact(this.#db, () => {
      if ((count.get(monitor.project_id) ?? 0) >= most) return false;
      const { enabled, condition } = monitor;
      insert.run({ ...monitor, enabled: enabled ? 1 : 0, condition: JSON.stringify(condition) });
      return true;
    });
  }

  find(projectId: string, id: string): Monitor | undefined {
    const row = guarded(() => this.#statements.find.get(projectId, id));
    return row && toMonitor(row);
  }

  list(projectId: string): Monitor[] {
    return guarded(() => this.#statements.list.all(projectId)).map(toMonitor);
  }

  change(id: string, { enabled, condition, ...settings }: MonitorSettings, isNew: boolean, at: Micros): void {
    const { change, begin } = this.#statements;
    transact(this.#db, () => {
      change.run({ id, ...settings, enabled: enabled ? 1 : 0, condition: JSON.stringify(condition) });
      if (!isNew) return;
      const before = this.#statements.state.get(id);
      begin.run({ id, at });
      if (before !== 'no_data') this.#note(id, { at, state: 'no_data', value: null, count: 0 });
    });
  }

  remove(id: string): void {
    transact(this.#db, () => {
      this.#statements.removeChanges.run(id);
      this.#statements.remove.run(id);
    });
  }

  projects(): string[] {
    return guarded(() => this.#statements.projects.all());
  }

  enabled(projectId: string): Monitor[] {
    return guarded(() => this.#statements.enabled.all(projectId)).map(toMonitor);
  }

  record({ id, muted_until }: Pick<Monitor, 'id' | 'muted_until'>, outcome: Outcome): boolean {
    return transact(this.#db, () => {
      const before = this.#statements.state.get(id);
      if (this.#statements.record.run({ id, muted_until, ...outcome }).changes === 0) return false;
      if (before !== outcome.state) this.#note(id, outcome);
      return true;
    });
  }

  changes(id: string, window: Window): StateChange[] {
    return guarded(() => this.#statements.changes.all({ id, ...window }));
  }

  #note(id: string, { at, state, value, count }: StateChange): void {
    this.#statements.noteChange.run({ id, at, state, value, count });
    this.#statements.removeOld.run({ id, most: MAX_CHANGES });
  }
}

function toMonitor({ enabled, condition, ...row }: Row): Monitor {
  return { ...row, enabled: enabled === 1, condition: JSON.parse(condition) as Condition };
}
