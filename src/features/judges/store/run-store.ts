import { randomUUID } from 'node:crypto';
import type { Evaluation } from '../evaluation.js';
import type { Window } from '../../../engine/schema/page.js';
import type { Run, RunDraft, RunState } from '../run.js';
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
import { evaluationInsert } from './evaluation-rows.js';
import { FailedRuns } from './failed-runs.js';
import { FailuresInRow } from './failures-in-row.js';
import { MAX_FAILED_IN_ROW } from '../whole-settings.js';
import { runTraces, type JudgedTraces } from './judged-traces.js';
import { prepareRunSql, TO_PRUNE } from './run-statements.js';

/** About how many failed runs of each judge are kept. */
const MAX_FAILED = 10_000;
/** Queued runs that are changed together: some milliseconds. */
const HASTENED_AT_ONCE = 2_000;
/** After how many failures older failed runs are removed. */
const PRUNE_EVERY = 500;

/** What a draft may leave out. */
const UNSAID = { pin: null, experiment_id: null, subject_id: null, failed_before: 0 };

const QUEUED = { state: 'queued', attempts: 0, reason: null } as const;

/** The queue of evaluations in the SQLite file. */
export class SqliteRunStore implements RunStore {
  readonly #db: Database;
  readonly #statements: ReturnType<typeof prepareRunSql>;
  readonly #storeEvaluation: (evaluation: Evaluation) => Evaluation;
  readonly #failed: FailedRuns;
  readonly #inRow: FailuresInRow;
  readonly #noteTraces: (traces: JudgedTraces) => boolean;
  #failures = 0;

  constructor(db: Database) {
    this.#db = db;
    this.#statements = prepareRunSql(db);
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
    return transact(this.#db, () => outcomes.flatMap((outcome) => this.#settle(outcome, at) ?? []));
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
    const { page, count } = this.#statements.lists[state ?? 'all'];
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
