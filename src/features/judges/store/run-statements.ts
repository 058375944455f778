import type { Window } from '../../../engine/schema/page.js';
import type { Micros } from '../../../engine/timestamp.js';
import type { Database } from '../../../engine/metadata/database.js';
import { LAST_DELETION } from '../../../engine/metadata/deletion-numbers.js';
import type { Run, RunDraft, RunState, StoredRunState } from '../run.js';
import type { FeedPosition, JudgeChanges, Looked } from '../run-store.js';
import { MAX_FAILED_IN_ROW } from '../whole-settings.js';

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

/** Failed runs of a judge except for the newest ones. */
export const TO_PRUNE = `judge_id = @judgeId AND state = 'failed' AND seq <= (
  SELECT seq FROM judge_runs WHERE judge_id = @judgeId AND state = 'failed' ORDER BY seq DESC LIMIT 1 OFFSET @keep)`;

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

/** Statements that queue runs, or note that one is to be queued again. */
function prepareDrafts(db: Database) {
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
  };
}

/** Statements about how far new spans were read. */
function prepareFeed(db: Database) {
  return {
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
  };
}

/** Statements about what is queued, and what is due. */
function prepareQueue(db: Database) {
  return {
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
    stillQueued: db
      .prepare<[string], string>(
        `SELECT id FROM judge_runs WHERE id IN (SELECT value FROM json_each(?)) AND state = 'queued'`,
      )
      .pluck(),
    queued: db.prepare<[], number>(`SELECT count(*) FROM judge_runs WHERE state = 'queued'`).pluck(),
    // A wait for quiet is no delay.
    oldest: db
      .prepare<[Micros], Micros | null>(
        `SELECT iif(subject_id IS NULL, created_at, next_attempt_at) FROM judge_runs
         WHERE state = 'queued' AND (subject_id IS NULL OR next_attempt_at <= ?) ORDER BY next_attempt_at, seq LIMIT 1`,
      )
      .pluck(),
    before: db
      .prepare<{ projectId: string; next: Micros; id: string }, number>(
        `SELECT count(*) FROM judge_runs WHERE state = 'queued' AND project_id = @projectId AND (next_attempt_at, seq) <
           (@next, (SELECT seq FROM judge_runs WHERE id = @id))`,
      )
      .pluck(),
  };
}

/** Statements that end a run or put it off. */
function prepareOutcomes(db: Database) {
  return {
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
    cancelled: db.prepare<Run>(
      `INSERT INTO judge_calls (run_id, project_id, span_id, created_at, after_deletion)
       SELECT @id, @project_id, @span_id, @created_at, 0 FROM projects WHERE id = @project_id ON CONFLICT DO NOTHING`,
    ),
  };
}

/** Statements about the runs of one span, trace or session. */
function prepareOfSubject(db: Database) {
  return {
    ofSpan: db.prepare<[string, string], Run>(
      `SELECT ${COLUMNS} FROM judge_runs WHERE judge_id = ? AND span_id = ? AND subject_id IS NULL ORDER BY seq DESC`,
    ),
    ofWhole: db.prepare<[string, string], Run>(
      `SELECT ${COLUMNS} FROM judge_runs WHERE judge_id = ? AND subject_id = ? ORDER BY seq DESC`,
    ),
  };
}

const RUNNING = 'id IN (SELECT value FROM json_each(@running))';
const IN_STATE = {
  all: `(${RUNNING} OR 1)`,
  queued: `state = 'queued' AND NOT ${RUNNING}`,
  running: `state = 'queued' AND ${RUNNING}`,
  failed: `state = 'failed' AND NOT ${RUNNING}`,
} as const satisfies Record<RunState | 'all', string>;

/** Statements about the runs of a judge. */
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

/** The statements of the queue of evaluations. */
export function prepareRunSql(db: Database) {
  return {
    ...prepareDrafts(db),
    ...prepareFeed(db),
    ...prepareQueue(db),
    ...prepareOutcomes(db),
    ...prepareOfSubject(db),
    lists: prepareLists(db),
  };
}
