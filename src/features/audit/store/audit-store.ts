import { guarded, transact, type Database } from '../../../engine/metadata/database.js';
import type { Window } from '../../../engine/schema/page.js';
import { MAX_MICROS, type Micros } from '../../../engine/timestamp.js';
import type { AuditDraft, AuditEntry, AuditFilter, AuditSelection, AuditStore } from '../audit-entry.js';

interface Row extends Omit<AuditEntry, 'changes'> {
  readonly changes: string;
}

/** Values that conditions compare with. */
type Values = Readonly<Record<string, string | number | null>>;

const STORED = [
  ...(['project_id', 'created_at', 'action', 'actor', 'user_id', 'key_id', 'sign_in_id', 'object_id'] as const),
  ...(['object_name', 'changes', 'address', 'request_id'] as const),
] as const satisfies readonly (keyof AuditDraft)[];
/** How often a log is looked at for entries that are too many, and how many go then: more than came. */
const TRIM_EVERY = 256;
const TRIMMED = 2 * TRIM_EVERY;
const FORGOTTEN_AT_ONCE = 500;

function prepare(db: Database) {
  return {
    add: db
      .prepare<Values, number>(
        `INSERT INTO audit (${STORED.join(', ')}, key_name, number)
         SELECT ${STORED.map((name) => `@${name}`).join(', ')}, (SELECT name FROM api_keys WHERE id = @key_id),
           coalesce((SELECT max(number) FROM audit WHERE project_id IS @project_id), 0) + 1
         RETURNING number`,
      )
      .pluck(),
    trim: db.prepare<[string | null, number, number]>(
      `DELETE FROM audit WHERE seq IN
         (SELECT seq FROM audit WHERE project_id IS ? AND number <= ? ORDER BY number LIMIT ?)`,
    ),
    forget: db.prepare<[Micros, number]>(
      `DELETE FROM audit WHERE seq IN (
         SELECT a.seq FROM audit AS a INDEXED BY audit_by_time WHERE a.created_at < ?
           AND a.number < (SELECT max(number) FROM audit AS o WHERE o.project_id IS a.project_id) LIMIT ?)`,
    ),
  };
}

/** Conditions of a filter, each by an index where there is one. */
function conditionsOf({ action, objectType, objectId, actor, actorId }: AuditFilter): string[] {
  return [
    'a.project_id IS @projectId',
    'a.created_at BETWEEN @start AND @end',
    ...(action === null ? [] : ['a.action = @action']),
    ...(objectType === null ? [] : ["a.action >= @objectType || '.' AND a.action < @objectType || '/'"]),
    ...(objectId === null ? [] : ['a.object_id = @objectId']),
    ...(actor === null ? [] : ['a.actor = @actor']),
    ...(actorId === null ? [] : ['(a.user_id = @actorId OR a.key_id = @actorId)']),
  ];
}

function prepareList(db: Database, conditions: readonly string[]) {
  const where = `FROM audit AS a WHERE ${conditions.join(' AND ')}`;
  const rows = (more: string) =>
    `SELECT a.*, u.name AS user_name, CASE WHEN a.action LIKE 'person.%'
       THEN (SELECT name FROM users WHERE id = a.object_id) ELSE a.object_name END AS object_name
     FROM (SELECT a.* ${where}${more}) AS a LEFT JOIN users AS u ON u.id = a.user_id`;
  const page = (order: 'ASC' | 'DESC') =>
    db.prepare<Values, Row>(
      `${rows(` ORDER BY a.number ${order} LIMIT @limit OFFSET @offset`)} ORDER BY a.number ${order}`,
    );
  return {
    count: db.prepare<Values, number>(`SELECT count(*) ${where}`).pluck(),
    newest: page('DESC'),
    oldest: page('ASC'),
    before: db.prepare<Values, Row>(
      `${rows(' AND a.number < @before ORDER BY a.number DESC LIMIT @limit')} ORDER BY a.number DESC`,
    ),
  };
}

/** The audit log in the SQLite file. */
export class SqliteAuditStore implements AuditStore {
  readonly #db: Database;
  readonly #statements: ReturnType<typeof prepare>;
  /** Prepared lists by the conditions that they use, as text. */
  readonly #lists = new Map<string, ReturnType<typeof prepareList>>();

  constructor(db: Database) {
    this.#db = db;
    this.#statements = prepare(db);
  }

  add(entry: AuditDraft, most: number): void {
    const { add, trim } = this.#statements;
    const { project_id } = entry;
    guarded(() => {
      const number = add.get({ ...entry, changes: JSON.stringify(entry.changes) }) ?? 0;
      if (number % TRIM_EVERY === 0 && number > most) trim.run(project_id, number - most, TRIMMED);
    });
  }

  together<T>(change: () => T): T {
    return transact(this.#db, change);
  }

  page(of: AuditSelection, { limit, offset }: Window, descending: boolean): { entries: AuditEntry[]; total: number } {
    const { newest, oldest, count } = this.#list(of);
    const values = valuesOf(of);
    const read = () => ({
      entries: (descending ? newest : oldest).all({ ...values, limit, offset }).map(toEntry),
      total: count.get(values) ?? 0,
    });
    return guarded(() => this.#db.transaction(read)());
  }

  before(of: AuditSelection, before: number | null, limit: number): AuditEntry[] {
    const values = { ...valuesOf(of), before: before ?? Number.MAX_SAFE_INTEGER, limit };
    return guarded(() => this.#list(of).before.all(values)).map(toEntry);
  }

  forgetSome(before: Micros): boolean {
    return guarded(() => this.#statements.forget.run(before, FORGOTTEN_AT_ONCE).changes) > 0;
  }

  #list({ filter }: AuditSelection): ReturnType<typeof prepareList> {
    const conditions = conditionsOf(filter);
    const key = conditions.join(' AND ');
    const known = this.#lists.get(key) ?? prepareList(this.#db, conditions);
    this.#lists.set(key, known);
    return known;
  }
}

function valuesOf({ projectId, filter }: AuditSelection): Values {
  const { start, end, ...others } = filter;
  return { projectId, ...others, start: start ?? 0, end: end ?? MAX_MICROS };
}

function toEntry({ changes, ...row }: Row): AuditEntry {
  return { ...row, changes: JSON.parse(changes) as AuditEntry['changes'] };
}
