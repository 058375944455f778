import type { RepriceJob, RepriceProgress, RepriceStore } from '../../domain/price/reprice-job.js';
import type { Micros } from '../../domain/time/timestamp.js';
import { guarded, type Database } from './database.js';

type Row = Omit<RepriceJob, 'after'> & {
  readonly after_started_at: Micros | null;
  readonly after_trace_id: string | null;
  readonly after_id: string | null;
};
type ProgressRow = Omit<RepriceProgress, 'after'> & Pick<Row, 'after_started_at' | 'after_trace_id' | 'after_id'>;

const PROGRESS = [
  'status',
  'total',
  'examined',
  'changed',
  'after_started_at',
  'after_trace_id',
  'after_id',
  'error',
  'finished_at',
];
const COLUMNS = ['id', 'project_id', 'started_after', 'started_before', 'provider', 'model', 'created_at', ...PROGRESS];
const ALL = COLUMNS.join(', ');

function prepare(db: Database) {
  return {
    insert: db.prepare<Row>(
      `INSERT INTO reprice_jobs (${ALL}) VALUES (${COLUMNS.map((column) => `@${column}`).join(', ')})`,
    ),
    find: db.prepare<[string, string], Row>(`SELECT ${ALL} FROM reprice_jobs WHERE project_id = ? AND id = ?`),
    list: db.prepare<[string, number], Row>(
      `SELECT ${ALL} FROM reprice_jobs WHERE project_id = ? ORDER BY seq DESC LIMIT ?`,
    ),
    countUnfinished: db
      .prepare<[string], number>('SELECT count(*) FROM reprice_jobs WHERE finished_at IS NULL AND project_id = ?')
      .pluck(),
    next: db.prepare<[], Row>(
      `SELECT ${ALL} FROM reprice_jobs
       WHERE seq IN (SELECT min(seq) FROM reprice_jobs WHERE finished_at IS NULL GROUP BY project_id) ORDER BY project_id`,
    ),
    update: db.prepare<ProgressRow & { id: string }>(
      `UPDATE reprice_jobs SET ${PROGRESS.map((column) => `${column} = @${column}`).join(', ')} WHERE id = @id`,
    ),
  };
}

/** Jobs that price spans anew, in the SQLite file. */
export class SqliteRepriceStore implements RepriceStore {
  readonly #statements: ReturnType<typeof prepare>;

  constructor(db: Database) {
    this.#statements = prepare(db);
  }

  insert({ after, ...job }: RepriceJob): void {
    guarded(() => this.#statements.insert.run({ ...job, ...placeColumns(after) }));
  }

  find(projectId: string, id: string): RepriceJob | undefined {
    return guarded(() => toJob(this.#statements.find.get(projectId, id)));
  }

  list(projectId: string, limit: number): RepriceJob[] {
    return guarded(() => this.#statements.list.all(projectId, limit)).flatMap((row) => toJob(row) ?? []);
  }

  countUnfinished(projectId: string): number {
    return guarded(() => this.#statements.countUnfinished.get(projectId) ?? 0);
  }

  next(): RepriceJob[] {
    return guarded(() => this.#statements.next.all()).flatMap((row) => toJob(row) ?? []);
  }

  update(id: string, { after, status, total, examined, changed, error, finished_at }: RepriceProgress): void {
    const row = { status, total, examined, changed, error, finished_at, ...placeColumns(after) };
    guarded(() => this.#statements.update.run({ ...row, id }));
  }
}

function placeColumns(after: RepriceProgress['after']) {
  return {
    after_started_at: after?.started_at ?? null,
    after_trace_id: after?.trace_id ?? null,
    after_id: after?.id ?? null,
  };
}

function toJob(row: Row | undefined): RepriceJob | undefined {
  if (row === undefined) return undefined;
  const { after_started_at: started_at, after_trace_id: trace_id, after_id: id, ...job } = row;
  return {
    ...job,
    after: started_at === null || trace_id === null || id === null ? null : { started_at, trace_id, id },
  };
}
