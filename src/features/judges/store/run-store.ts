import { randomUUID } from 'node:crypto';
import type { Evaluation } from '../evaluation.js';
import type { Window } from '../../../engine/schema/page.js';
import type { Run, RunDraft, RunState, StoredRunState } from '../run.js';
import type {
  FailedDraft,
  FeedPosition,
  JudgeChanges,
  Looked,
  QueueState,
  RunOutcome,
  RunPage,
  RunStore,
} from '../run-store.js';
import type { Micros } from '../../../engine/timestamp.js';
import { guarded, transact, type Database } from '../../../engine/metadata/database.js';
import { LAST_DELETION } from '../../../engine/metadata/deletion-numbers.js';
import { evaluationInsert } from './evaluation-rows.js';
import { FailedRuns } from './failed-runs.js';
import { FailuresInRow } from './failures-in-row.js';
import { MAX_FAILED_IN_ROW } from '../whole-settings.js';
import { runTraces, type JudgedTraces } from './judged-traces.js';

/** About how many failed runs of each judge are kept. */
const MAX_FAILED = 10_000;
/** Queued runs that are changed together: some milliseconds. */
const HASTENED_AT_ONCE = 2_000;
/** After how many failures older failed runs are removed. */
const PRUNE_EVERY = 500;

const COLUMNS = `id, project_id, judge_id, span_id, trace_id, span_started_at, origin, state, attempts, next_attempt_at,
  reason, created_at, updated_at, pin, subject_id`;
/** The condition for a run to be queued: a judge evaluates a new span by itself only once. */
const IS_NEW = `@origin <> 'automatic' OR @subject_id IS NOT NULL OR NOT EXISTS (
  SELECT 1 FROM evaluations
  WHERE judge_id = @judge_id AND span_id = @span_id AND origin = 'automatic' AND subject_id IS NULL)`;

/** The condition for a failure after which changes of the trace or session queue no further run. */
const IS_LAST_FAILURE = `subject_id IS NOT NULL AND origin = 'automatic' AND failed_before >= ${MAX_FAILED_IN_ROW - 1}`;
const NO_MORE = ` (failed ${MAX_FAILED_IN_ROW} times in a row: only run calls and retries evaluate it again)`;

/** Projects with queued runs, each found by one step in the index, however many runs there are. */
const QUEUED_PROJECTS = `WITH RECURSIVE queued (id) AS (
    SELECT min(project_id) FROM judge_runs WHERE state = 'queued'
    UNION ALL
    SELECT (SELECT min(project_id) FROM judge_runs WHERE state = 'queued' AND project_id > queued.id)
    FROM queued WHERE queued.id IS NOT NULL)`;

/** Failed runs of a judge but for the newest ones. */
const TO_PRUNE = `judge_id = @judgeId AND state = 'failed' AND seq <= (
  SELECT seq FROM judge_runs WHERE judge_id = @judgeId AND state = 'failed' ORDER BY seq DESC LIMIT 1 OFFSET @keep)`;

/** What a draft may leave out. */
const UNSAID = { pin: null, experiment_id: null, subject_id: null, failed_before: 0 };

interface CountRow {
  readonly project_id: string;
  readonly runs: number;
}

type PositionRow = Omit<FeedPosition, 'behind'> & { readonly behind: string };
/** JSON of judges that are behind. */
type PositionOf = Pick<Looked, 'arrived_at'> & { readonly projectId: string; readonly behind: string };

interface InsertRow extends RunDraft {
  readonly failed_before: number;
  readonly state: StoredRunState;
  readonly attempts: number;
  readonly reason: string | null;
  readonly at: Micros;
  readonly due_at: Micros;
}

function prepare(db: Database) {
  return {
    insert: db.prepare<InsertRow>(
      `INSERT INTO judge_runs (${COLUMNS}, experiment_id, failed_before, after_deletion)
       SELECT @id, @project_id, @judge_id, @span_id, @trace_id, @span_started_at, @origin, @state, @attempts, @due_at,
         @reason, @at, @at, @pin, @subject_id, @experiment_id, @failed_before, ${LAST_DELETION}
       FROM judges WHERE id = @judge_id AND deleted_at IS NULL AND (@origin <> 'automatic' OR enabled = 1) AND (${IS_NEW})
       ON CONFLICT DO NOTHING`,
    ),
    // The run may have been read already: what came since is a change.
    changed: db.prepare<Pick<RunDraft, 'judge_id' | 'subject_id'> & { due_at: Micros }>(
      `UPDATE judge_runs SET again_at = max(ifnull(again_at, 0), @due_at)
       WHERE judge_id = @judge_id AND subject_id = @subject_id AND origin = 'automatic' AND state = 'queued'`,
    ),
    reading: db.prepare<[string]>(
      'UPDATE judge_runs SET again_at = NULL WHERE id IN (SELECT value FROM json_each(?)) AND again_at IS NOT NULL',
    ),
    again: db
      .prepare<[string], Micros>('SELECT again_at FROM judge_runs WHERE id = ? AND again_at IS NOT NULL')
      .pluck(),
    // By trigger, its calls stay known. The last one that may fail stays, and so no other is queued.
    forgetFailed: db
      .prepare<Pick<RunDraft, 'judge_id' | 'subject_id'>, number>(
        `DELETE FROM judge_runs WHERE judge_id = @judge_id AND subject_id = @subject_id AND origin = 'automatic'
           AND state = 'failed' AND NOT (${IS_LAST_FAILURE}) RETURNING failed_before + 1`,
      )
      .pluck(),
    position: db.prepare<[string], PositionRow>(
      `SELECT f.began_at, coalesce(p.arrived_at, f.arrived_at) AS arrived_at, coalesce(p.behind, '{}') AS behind
       FROM judge_feed AS f LEFT JOIN judge_feed_projects AS p ON p.project_id = ? WHERE f.id = 1`,
    ),
    begin: db.prepare<{ now: Micros }>(
      'INSERT INTO judge_feed (id, began_at, arrived_at) VALUES (1, @now, @now) ON CONFLICT DO NOTHING',
    ),
    // Nothing is written any more for a project that was deleted meanwhile.
    setLooked: db.prepare<PositionOf>(
      `INSERT INTO judge_feed_projects (project_id, arrived_at, behind) SELECT id, @arrived_at, @behind FROM projects WHERE id = @projectId
       ON CONFLICT (project_id) DO UPDATE SET arrived_at = excluded.arrived_at, behind = excluded.behind`,
    ),
    forget: [db.prepare('DELETE FROM judge_feed'), db.prepare('DELETE FROM judge_feed_projects')],
    dueProjects: db
      .prepare<[Micros], string>(
        `${QUEUED_PROJECTS} SELECT id FROM queued WHERE EXISTS (
           SELECT 1 FROM judge_runs WHERE state = 'queued' AND project_id = queued.id AND next_attempt_at <= ?)`,
      )
      .pluck(),
    due: db.prepare<{ projectId: string; now: Micros; except: string; limit: number }, Run>(
      `SELECT ${COLUMNS} FROM judge_runs WHERE state = 'queued' AND project_id = @projectId AND next_attempt_at <= @now
         AND judge_id NOT IN (SELECT value FROM json_each(@except))
       ORDER BY next_attempt_at, seq LIMIT @limit`,
    ),
    queuedByProject: db.prepare<[], CountRow>(
      `SELECT project_id, count(*) AS runs FROM judge_runs WHERE state = 'queued' GROUP BY project_id`,
    ),
    changes: db.prepare<[], JudgeChanges>(
      `SELECT project_id, judge_id, count(*) AS runs FROM judge_runs INDEXED BY judge_runs_of_changes
       WHERE state = 'queued' AND subject_id IS NOT NULL AND origin = 'automatic' GROUP BY project_id, judge_id`,
    ),
    nextDue: db
      .prepare<[Micros], Micros | null>(
        `SELECT min(next_attempt_at) FROM judge_runs WHERE state = 'queued' AND next_attempt_at > ?`,
      )
      .pluck(),
    hasten: db.prepare<{ after: Micros; wholes: Micros; now: Micros; limit: number }>(
      `UPDATE judge_runs SET next_attempt_at = @now WHERE seq IN (
         SELECT seq FROM judge_runs WHERE state = 'queued' AND next_attempt_at > @after
           AND (subject_id IS NULL OR next_attempt_at > @wholes) LIMIT @limit)`,
    ),
    take: db.prepare<[string]>(`DELETE FROM judge_runs WHERE id = ? AND state = 'queued'`),
    await: db.prepare<{ id: string; next: Micros }>(
      `UPDATE judge_runs SET next_attempt_at = @next WHERE id = @id AND state = 'queued'`,
    ),
    postpone: db.prepare<{ id: string; reason: string; next: Micros; at: Micros }>(
      `UPDATE judge_runs SET attempts = attempts + 1, reason = @reason, next_attempt_at = @next, updated_at = @at
       WHERE id = @id AND state = 'queued'`,
    ),
    fail: db.prepare<{ id: string; reason: string; at: Micros }>(
      `UPDATE judge_runs SET state = 'failed', attempts = attempts + 1, updated_at = @at,
         reason = @reason || iif(${IS_LAST_FAILURE}, '${NO_MORE}', '')
       WHERE id = @id AND state = 'queued'`,
    ),
    prune: db.prepare<{ judgeId: string; keep: number }>(`DELETE FROM judge_runs WHERE ${TO_PRUNE}`),
    stillQueued: db
      .prepare<[string], string>(
        `SELECT id FROM judge_runs WHERE id IN (SELECT value FROM json_each(?)) AND state = 'queued'`,
      )
      .pluck(),
    cancelled: db.prepare<Run>(
      `INSERT INTO judge_calls (run_id, project_id, span_id, created_at, after_deletion)
       SELECT @id, @project_id, @span_id, @created_at, 0 FROM projects WHERE id = @project_id ON CONFLICT DO NOTHING`,
    ),
    queued: db.prepare<[], number>(`SELECT count(*) FROM judge_runs WHERE state = 'queued'`).pluck(),
    // A wait for quiet is no delay.
    oldest: db
      .prepare<[Micros], Micros | null>(
        `SELECT iif(subject_id IS NULL, created_at, next_attempt_at) FROM judge_runs
         WHERE state = 'queued' AND (subject_id IS NULL OR next_attempt_at <= ?) ORDER BY next_attempt_at, seq LIMIT 1`,
      )
      .pluck(),
    ofSpan: db.prepare<[string, string], Run>(
      `SELECT ${COLUMNS} FROM judge_runs WHERE judge_id = ? AND span_id = ? AND subject_id IS NULL ORDER BY seq DESC`,
    ),
    ofWhole: db.prepare<[string, string], Run>(
      `SELECT ${COLUMNS} FROM judge_runs WHERE judge_id = ? AND subject_id = ? ORDER BY seq DESC`,
    ),
    before: db
      .prepare<{ projectId: string; next: Micros; id: string }, number>(
        `SELECT count(*) FROM judge_runs WHERE state = 'queued' AND project_id = @projectId AND (next_attempt_at, seq) <
           (@next, (SELECT seq FROM judge_runs WHERE id = @id))`,
      )
      .pluck(),
  };
}

const QUEUED = { state: 'queued', attempts: 0, reason: null } as const;

const RUNNING = 'id IN (SELECT value FROM json_each(@running))';
const IN_STATE = {
  all: `(${RUNNING} OR 1)`,
  queued: `state = 'queued' AND NOT ${RUNNING}`,
  running: `state = 'queued' AND ${RUNNING}`,
  failed: `state = 'failed' AND NOT ${RUNNING}`,
} as const satisfies Record<RunState | 'all', string>;

function prepareLists(db: Database) {
  const prepareList = (condition: string) => ({
    page: db.prepare<Window & { judgeId: string; running: string }, Run>(
      `SELECT ${COLUMNS} FROM judge_runs WHERE judge_id = @judgeId AND ${condition}
       ORDER BY seq DESC LIMIT @limit OFFSET @offset`,
    ),
    count: db
      .prepare<{ judgeId: string; running: string }, number>(
        `SELECT count(*) FROM judge_runs WHERE judge_id = @judgeId AND ${condition}`,
      )
      .pluck(),
  });
  return {
    all: prepareList(IN_STATE.all),
    queued: prepareList(IN_STATE.queued),
    running: prepareList(IN_STATE.running),
    failed: prepareList(IN_STATE.failed),
  };
}

/** The queue of evaluations in the SQLite file. */
export class SqliteRunStore implements RunStore {
  readonly #db: Database;
  readonly #statements: ReturnType<typeof prepare>;
  readonly #lists: ReturnType<typeof prepareLists>;
  readonly #storeEvaluation: (evaluation: Evaluation) => Evaluation;
  readonly #failed: FailedRuns;
  readonly #inRow: FailuresInRow;
  readonly #noteTraces: (traces: JudgedTraces) => boolean;
  #failures = 0;

  constructor(db: Database) {
    this.#db = db;
    this.#statements = prepare(db);
    this.#lists = prepareLists(db);
    this.#storeEvaluation = evaluationInsert(db);
    this.#inRow = new FailuresInRow(db, TO_PRUNE);
    this.#failed = new FailedRuns(db, this.#inRow);
    this.#noteTraces = runTraces(db);
  }

  enqueue(drafts: readonly RunDraft[], at: Micros): number {
    return transact(this.#db, () => this.#insert(drafts, at));
  }

  retryFailed(judgeId: string, before: Micros, limit: number): number {
    return this.#failed.retry(judgeId, before, limit);
  }

  toRetry(judgeId: string, before: Micros): number {
    return this.#failed.count(judgeId, before);
  }

  advance(
    projectId: string,
    looked: Looked,
    drafts: readonly RunDraft[],
    at: Micros,
    failed: readonly FailedDraft[] = [],
  ): number {
    const { insert } = this.#statements;
    return transact(this.#db, () => {
      this.#setLooked(projectId, looked);
      for (const { draft, reason } of failed)
        insert.run({ ...UNSAID, due_at: at, ...draft, state: 'failed', attempts: 1, reason, at });
      return this.#insert(drafts, at);
    });
  }

  #insert(drafts: readonly RunDraft[], at: Micros): number {
    const { insert, forgetFailed, changed } = this.#statements;
    return drafts.reduce((sum, draft) => {
      const { judge_id, subject_id = null, origin } = draft;
      const isOfWhole = subject_id !== null && origin === 'automatic';
      const { due_at = at, ...row } = draft;
      const ofWhole = { judge_id, subject_id };
      const failed_before = isOfWhole ? (forgetFailed.get(ofWhole) ?? this.#inRow.of(ofWhole)) : 0;
      const isGivenUp = failed_before >= MAX_FAILED_IN_ROW;
      const queued = isGivenUp ? 0 : insert.run({ ...UNSAID, ...row, ...QUEUED, failed_before, due_at, at }).changes;
      if (isOfWhole && queued === 0) changed.run({ judge_id, subject_id, due_at });
      return sum + queued;
    }, 0);
  }

  reading(ids: readonly string[]): void {
    guarded(() => this.#statements.reading.run(JSON.stringify(ids)));
  }

  begin(now: Micros): void {
    guarded(() => this.#statements.begin.run({ now }));
  }

  forget(): void {
    transact(this.#db, () => this.#statements.forget.map((each) => each.run()));
  }

  position(projectId: string): FeedPosition | undefined {
    const row = guarded(() => this.#statements.position.get(projectId));
    return row && { ...row, behind: JSON.parse(row.behind) as FeedPosition['behind'] };
  }

  setLooked(looked: ReadonlyMap<string, Looked>): void {
    transact(this.#db, () => {
      for (const [projectId, each] of looked) this.#setLooked(projectId, each);
    });
  }

  #setLooked(projectId: string, { arrived_at, behind }: Looked): void {
    this.#statements.setLooked.run({ projectId, arrived_at, behind: JSON.stringify(behind) });
  }

  dueProjects(now: Micros): string[] {
    return guarded(() => this.#statements.dueProjects.all(now));
  }

  due(projectId: string, now: Micros, limit: number, except: readonly string[] = []): Run[] {
    return guarded(() => this.#statements.due.all({ projectId, now, except: JSON.stringify(except), limit }));
  }

  queued(): Map<string, number> {
    const rows = guarded(() => this.#statements.queuedByProject.all());
    const queued = new Map(rows.map(({ project_id, runs }) => [project_id, runs]));
    for (const { project_id, runs } of this.changes()) {
      const others = (queued.get(project_id) ?? 0) - runs;
      if (others > 0) queued.set(project_id, others);
      else queued.delete(project_id);
    }
    return queued;
  }

  changes(): JudgeChanges[] {
    return guarded(() => this.#statements.changes.all());
  }

  nextDue(after: Micros): Micros | null {
    return guarded(() => this.#statements.nextDue.get(after) ?? null);
  }

  hasten(after: Micros, wholes: Micros, now: Micros): number {
    return guarded(() => this.#statements.hasten.run({ after, wholes, now, limit: HASTENED_AT_ONCE }).changes);
  }

  stillQueued(ids: readonly string[]): Set<string> {
    return new Set(guarded(() => this.#statements.stillQueued.all(JSON.stringify(ids))));
  }

  noteShown(run: Run, traceIds: readonly string[]): boolean {
    const traces = { projectId: run.project_id, runId: run.id, traceIds };
    return transact(this.#db, () => this.#noteTraces(traces));
  }

  settle(outcomes: readonly RunOutcome[], at: Micros): Evaluation[] {
    const stored = transact(this.#db, () => outcomes.flatMap((outcome) => this.#settle(outcome, at) ?? []));
    return stored;
  }

  #settle(outcome: RunOutcome, at: Micros): Evaluation | undefined {
    const { run, kind } = outcome;
    const isOver = kind === 'evaluated' || kind === 'dropped' || kind === 'failed';
    const changedAt = isOver && run.subject_id != null ? this.#statements.again.get(run.id) : undefined;
    const stored = this.#end(outcome, at);
    // Spans of its trace or session came since it was read.
    if (changedAt !== undefined) {
      const { project_id, judge_id, span_id, trace_id, span_started_at, subject_id = null } = run;
      const place = { project_id, judge_id, span_id, trace_id, span_started_at, subject_id };
      this.#insert([{ ...place, id: randomUUID(), origin: 'automatic', due_at: changedAt }], at);
    }
    return stored;
  }

  #end(outcome: RunOutcome, at: Micros): Evaluation | undefined {
    const { take, cancelled, postpone, fail, prune, await: wait } = this.#statements;
    const { run } = outcome;
    switch (outcome.kind) {
      case 'evaluated': {
        if (take.run(run.id).changes > 0) {
          this.#inRow.end(run);
          return this.#storeEvaluation({ ...outcome.evaluation, created_at: at });
        }
        // A deletion cancelled the run, but its calls are stored as spans by now, and go with it.
        cancelled.run(run);
        return undefined;
      }
      case 'dropped':
        take.run(run.id);
        return undefined;
      case 'postponed':
        wait.run({ id: run.id, next: outcome.at });
        return undefined;
      case 'retry':
        postpone.run({ id: run.id, reason: outcome.reason, next: outcome.at, at });
        return undefined;
      case 'failed':
        fail.run({ id: run.id, reason: outcome.reason, at });
        this.#failures += 1;
        if (this.#failures % PRUNE_EVERY !== 0) return undefined;
        this.#inRow.keep({ judgeId: run.judge_id, keep: MAX_FAILED });
        prune.run({ judgeId: run.judge_id, keep: MAX_FAILED });
        return undefined;
    }
  }

  state(now: Micros): QueueState {
    const { queued, oldest } = this.#statements;
    return guarded(() => ({ queued: queued.get() ?? 0, oldest: oldest.get(now) ?? null }));
  }

  list(judgeId: string, state: RunState | null, running: readonly string[], window: Window): RunPage {
    const { page, count } = this.#lists[state ?? 'all'];
    const values = { judgeId, running: JSON.stringify(running) };
    return guarded(() =>
      this.#db.transaction(() => ({ runs: page.all({ ...values, ...window }), total: count.get(values) ?? 0 }))(),
    );
  }

  ofSpan(judgeId: string, spanId: string): Run[] {
    return guarded(() => this.#statements.ofSpan.all(judgeId, spanId));
  }

  ofWhole(judgeId: string, id: string): Run[] {
    return guarded(() => this.#statements.ofWhole.all(judgeId, id));
  }

  before({ id, project_id: projectId, next_attempt_at: next }: Run): number {
    return guarded(() => this.#statements.before.get({ projectId, next, id }) ?? 0);
  }
}
