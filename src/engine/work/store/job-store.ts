import type { Job, JobEnd, JobHead, JobStore } from '../job.js';
import type { Micros } from '../../timestamp.js';
import { guarded, transact, type Database } from '../../metadata/database.js';
import { LAST_DELETION } from '../../metadata/deletion-numbers.js';

type HeadRow = Omit<JobHead, 'summary' | 'checkpoint'> & {
  readonly summary: string;
  readonly checkpoint: string | null;
};
type Row = HeadRow & { readonly input: string; readonly result: string | null };

const HEAD_COLUMNS = [
  'id',
  'project_id',
  'kind',
  'subject_id',
  'state',
  'phase',
  'total',
  'done',
  'checkpoint',
  'summary',
  'error',
  'created_at',
  'created_by',
  'finished_at',
] as const satisfies readonly (keyof HeadRow)[];
const COLUMNS = [...HEAD_COLUMNS, 'input', 'result'] as const satisfies readonly (keyof Row)[];
const HEAD = HEAD_COLUMNS.join(', ');
const ALL = COLUMNS.join(', ');
const OF_KINDS = 'kind IN (SELECT value FROM json_each(?))';

function prepare(db: Database) {
  return {
    insert: db.prepare<Row>(
      `INSERT INTO jobs (${ALL}, after_deletion)
       VALUES (${COLUMNS.map((name) => `@${name}`).join(', ')}, ${LAST_DELETION})`,
    ),
    find: db.prepare<[string, string, string], Row>(
      `SELECT ${ALL} FROM jobs WHERE project_id = ? AND kind = ? AND id = ?`,
    ),
    findById: db.prepare<[string], Row>(`SELECT ${ALL} FROM jobs WHERE id = ?`),
    rewrite: db.prepare<{ id: string; input: string; result: string | null }>(
      'UPDATE jobs SET input = @input, result = @result WHERE id = @id',
    ),
    forgetSteps: db.prepare<[string]>('DELETE FROM job_steps WHERE job_id = ?'),
    forgetSpans: db.prepare<[string, string]>(
      'DELETE FROM job_spans WHERE job_id = ? AND span_id IN (SELECT value FROM json_each(?))',
    ),
    forgetTraces: db.prepare<[string, string]>(
      'DELETE FROM job_traces WHERE job_id = ? AND span_id IN (SELECT value FROM json_each(?))',
    ),
    isUnfinished: db.prepare<[string], number>('SELECT 1 FROM jobs WHERE id = ? AND finished_at IS NULL').pluck(),
    noteTraces: db.prepare<{ id: string; spanId: string; traces: string }>(
      `INSERT INTO job_traces (project_id, trace_id, job_id, span_id)
       SELECT j.project_id, t.value, j.id, @spanId FROM jobs AS j CROSS JOIN json_each(@traces) AS t
       WHERE j.id = @id ON CONFLICT DO NOTHING`,
    ),
    list: db.prepare<[string, string, string, number], HeadRow>(
      `SELECT ${HEAD} FROM jobs WHERE project_id = ? AND kind = ? AND subject_id = ? ORDER BY seq DESC LIMIT ?`,
    ),
    unfinished: db.prepare<[string], HeadRow>(
      `SELECT ${HEAD} FROM jobs WHERE finished_at IS NULL AND ${OF_KINDS} ORDER BY seq`,
    ),
    countUnfinished: db
      .prepare<[string, string], number>(
        `SELECT count(*) FROM jobs WHERE finished_at IS NULL AND project_id = ? AND ${OF_KINDS}`,
      )
      .pluck(),
    progress: db.prepare<{ id: string; phase: string; total: number | null }>(
      "UPDATE jobs SET state = 'running', phase = @phase, total = @total WHERE id = @id AND finished_at IS NULL",
    ),
    advance: db.prepare<{ id: string; done: number; checkpoint: string }>(
      'UPDATE jobs SET done = @done, checkpoint = @checkpoint WHERE id = @id',
    ),
    end: db.prepare<{ id: string; state: string; result: string | null; error: string | null; at: Micros }>(
      `UPDATE jobs SET state = @state, phase = NULL, result = @result, error = @error, finished_at = @at
       WHERE id = @id AND finished_at IS NULL`,
    ),
    steps: db.prepare<[string], { step: string; result: string }>(
      'SELECT step, result FROM job_steps WHERE job_id = ?',
    ),
    addStep: db.prepare<[string, string, string]>(
      'INSERT INTO job_steps (job_id, step, result) VALUES (?, ?, ?) ON CONFLICT DO NOTHING',
    ),
    count: db.prepare<[string]>('UPDATE jobs SET done = done + 1 WHERE id = ?'),
  };
}

/** Jobs and their steps in the SQLite file. */
export class SqliteJobStore implements JobStore {
  readonly #db: Database;
  readonly #statements: ReturnType<typeof prepare>;

  constructor(db: Database) {
    this.#db = db;
    this.#statements = prepare(db);
  }

  insert(job: Job): void {
    const result = job.result === null ? null : JSON.stringify(job.result);
    const checkpoint = job.checkpoint === null ? null : JSON.stringify(job.checkpoint);
    const [summary, input] = [JSON.stringify(job.summary), JSON.stringify(job.input)];
    guarded(() => this.#statements.insert.run({ ...job, summary, checkpoint, input, result }));
  }

  find(projectId: string, kind: string, id: string): Job | undefined {
    const row = guarded(() => this.#statements.find.get(projectId, kind, id));
    return row === undefined ? undefined : toJob(row);
  }

  list(projectId: string, kind: string, subjectId: string, limit: number): JobHead[] {
    return guarded(() => this.#statements.list.all(projectId, kind, subjectId, limit)).map(toHead);
  }

  unfinished(kinds: readonly string[]): JobHead[] {
    return guarded(() => this.#statements.unfinished.all(JSON.stringify(kinds))).map(toHead);
  }

  countUnfinished(projectId: string, kinds: readonly string[]): number {
    return guarded(() => this.#statements.countUnfinished.get(projectId, JSON.stringify(kinds)) ?? 0);
  }

  progress(id: string, phase: string, total: number | null): void {
    guarded(() => this.#statements.progress.run({ id, phase, total }));
  }

  advance(id: string, done: number, checkpoint: unknown): void {
    guarded(() => this.#statements.advance.run({ id, done, checkpoint: JSON.stringify(checkpoint) }));
  }

  end(id: string, end: JobEnd, at: Micros): boolean {
    const result = end.state === 'done' ? JSON.stringify(end.result) : null;
    const error = end.state === 'failed' ? end.error : null;
    return guarded(() => this.#statements.end.run({ id, state: end.state, result, error, at }).changes > 0);
  }

  steps(id: string): Map<string, unknown> {
    const rows = guarded(() => this.#statements.steps.all(id));
    return new Map(rows.map(({ step, result }) => [step, JSON.parse(result) as unknown]));
  }

  findById(id: string): Job | undefined {
    const row = guarded(() => this.#statements.findById.get(id));
    return row === undefined ? undefined : toJob(row);
  }

  forgetSpans({ id, input, result }: Pick<Job, 'id' | 'input' | 'result'>, spanIds: readonly string[]): void {
    const { rewrite, forgetSteps, forgetSpans, forgetTraces } = this.#statements;
    transact(this.#db, () => {
      rewrite.run({ id, input: JSON.stringify(input), result: result === null ? null : JSON.stringify(result) });
      forgetSteps.run(id);
      for (const statement of [forgetSpans, forgetTraces]) statement.run(id, JSON.stringify(spanIds));
    });
  }

  noteTraces(id: string, spanId: string, traceIds: readonly string[]): boolean {
    const { isUnfinished, noteTraces } = this.#statements;
    return transact(this.#db, () => {
      if (isUnfinished.get(id) === undefined) return false;
      noteTraces.run({ id, spanId, traces: JSON.stringify(traceIds) });
      return true;
    });
  }

  addStep(id: string, step: string, result: unknown): void {
    const { addStep, count } = this.#statements;
    transact(this.#db, () => {
      if (addStep.run(id, step, JSON.stringify(result)).changes > 0) count.run(id);
    });
  }
}

function toHead<R extends HeadRow>(row: R) {
  const { summary, checkpoint } = row;
  return {
    ...row,
    summary: JSON.parse(summary) as unknown,
    checkpoint: checkpoint === null ? null : (JSON.parse(checkpoint) as unknown),
  };
}

function toJob(row: Row): Job {
  return {
    ...toHead(row),
    input: JSON.parse(row.input) as unknown,
    result: row.result === null ? null : (JSON.parse(row.result) as unknown),
  };
}
