import type {
  Affected,
  DeletedSpan,
  Deletion,
  DeletionDraft,
  DeletionItem,
  DeletionStore,
  DeletionTarget,
  ItemDraft,
} from '../../domain/deletion/deletion-store.js';
import type { Micros } from '../../domain/time/timestamp.js';
import { correctionRemoval } from './correction-rows.js';
import { guarded, WatchedStore, type Database } from './database.js';
import { evaluationRemoval } from './evaluation-rows.js';
import { projectRemoval } from './project-removal.js';

/** Items that are forgotten together. */
const FORGOTTEN_AT_ONCE = 5_000;
/** The error of a job that has not ended when a span of it is deleted. */
const JOB_ERROR = 'A span that the job works with was deleted; start it anew';

interface OfSpans {
  readonly deletion: number;
  readonly projectId: string;
  /** JSON array of `DeletedSpan`. */
  readonly spans: string;
  /** When the deletion was ordered. */
  readonly until: Micros;
}

interface DeletionRow {
  readonly projectId: string;
  readonly what: Deletion['what'];
  readonly target: string;
  readonly ordered: 0 | 1;
  readonly upTo: Micros;
  readonly at: Micros;
}

/** Rows of a table that are about the spans. CROSS JOIN keeps the order: the spans are few, the table has an index. */
const about = (table: string, span: string, at = 'created_at') =>
  `json_each(@spans) AS s CROSS JOIN ${table} AS t ON t.project_id = @projectId AND t.${span} = s.value ->> 'id'
     AND (s.value ->> 'before' IS NULL OR t.${at} <= s.value ->> 'before')`;
/** Runs of the spans, by way of the judges: the queue's index begins with the judge. */
const RUNS = `json_each(@spans) AS s CROSS JOIN judges AS j ON j.project_id = @projectId
  CROSS JOIN judge_runs AS t ON t.judge_id = j.id AND t.span_id = s.value ->> 'id'
    AND (s.value ->> 'before' IS NULL OR t.created_at <= s.value ->> 'before')`;
const JOBS = `json_each(@spans) AS s CROSS JOIN job_spans AS w ON w.span_id = s.value ->> 'id'
  JOIN jobs AS t ON t.id = w.job_id AND t.project_id = @projectId
    AND (s.value ->> 'before' IS NULL OR t.created_at <= s.value ->> 'before')`;
/** Rows about the spans, but for evaluations of clients and feedback sent after the order, which did not mean them. */
const EVALUATIONS = `${about('evaluations', 'span_id')} AND (t.origin <> 'external' OR t.created_at <= @until)`;
const FEEDBACK = `${about('feedback', 'completion_id', 'updated_at')} AND t.updated_at <= @until`;
const CALLS = about('judge_calls', 'span_id');
const IMAGES = `json_each(@spans) AS s CROSS JOIN attachment_namings AS t
  ON t.project_id = @projectId AND t.span_id = s.value ->> 'id'`;
/** All tables with rows about spans: which are about some, whenever they came, and whether a project has any. */
const RECORDS = [
  { about: about('evaluations', 'span_id'), any: 'evaluations WHERE project_id = ?' },
  { about: about('feedback', 'completion_id', 'updated_at'), any: 'feedback WHERE project_id = ?' },
  { about: RUNS, any: 'judges AS j CROSS JOIN judge_runs AS t ON t.judge_id = j.id WHERE j.project_id = ?' },
  { about: CALLS, any: 'judge_calls WHERE project_id = ?' },
  { about: JOBS, any: 'jobs AS t CROSS JOIN job_spans AS w ON w.job_id = t.id WHERE t.project_id = ?' },
  { about: IMAGES, any: 'attachment_namings WHERE project_id = ?' },
];

/** The steps that remove all rows about some spans, in this order: a row that names another goes before it. */
function spanSteps(db: Database): readonly ((of: OfSpans) => unknown)[] {
  const step = (sql: string) => {
    const statement = db.prepare<OfSpans>(sql);
    return (of: OfSpans) => statement.run(of);
  };
  const note = (kind: DeletionItem['kind'], traceId: string, id: string, from: string) =>
    step(
      `INSERT INTO deletion_items (deletion, kind, trace_id, id, started_at)
       SELECT DISTINCT @deletion, '${kind}', ${traceId}, ${id}, 0 FROM ${from}`,
    );
  const remove = (table: string, key: string, from: string) =>
    step(`DELETE FROM ${table} WHERE ${key} IN (SELECT t.${key} FROM ${from})`);
  return [
    note('run', "''", 't.id', `${EVALUATIONS} AND t.origin <> 'external'`),
    note('run', "''", 't.id', RUNS),
    note('run', "''", 't.run_id', CALLS),
    note('shown', 't.judge_id', 't.completion_id', `${FEEDBACK} AND t.judge_id IS NOT NULL`),
    remove('judge_runs', 'seq', RUNS),
    remove('judge_calls', 'run_id', CALLS),
    correctionRemoval(db, `feedback_id IN (SELECT t.id FROM ${FEEDBACK})`),
    remove('feedback', 'id', FEEDBACK),
    correctionRemoval(db, `evaluation_seq IN (SELECT t.seq FROM ${EVALUATIONS})`),
    evaluationRemoval(db, `seq IN (SELECT t.seq FROM ${EVALUATIONS})`),
  ];
}

function prepare(db: Database) {
  return {
    failJobs: db.prepare<OfSpans & { error: string; at: Micros }>(
      `UPDATE jobs SET state = 'failed', phase = NULL, error = @error, finished_at = @at
       WHERE finished_at IS NULL AND id IN (SELECT t.id FROM ${JOBS})`,
    ),
    judges: db
      .prepare<OfSpans, string>(`SELECT DISTINCT t.judge_id FROM ${FEEDBACK} AND t.judge_id IS NOT NULL`)
      .pluck(),
    jobs: db.prepare<OfSpans, { job_id: string; span_id: string }>(`SELECT w.job_id, w.span_id FROM ${JOBS}`),
    knows: db
      .prepare<OfSpans, number>(
        `SELECT EXISTS (SELECT 1 FROM ${EVALUATIONS}) OR EXISTS (SELECT 1 FROM ${FEEDBACK}) OR EXISTS (SELECT 1 FROM ${RUNS})`,
      )
      .pluck(),
    records: RECORDS.map((table) => ({
      any: db.prepare<[string], number>(`SELECT EXISTS (SELECT 1 FROM ${table.any})`).pluck(),
      about: db
        .prepare<Pick<OfSpans, 'projectId' | 'spans'>, string>(`SELECT s.value ->> 'id' FROM ${table.about}`)
        .pluck(),
    })),
    abandon: db.prepare('DELETE FROM deletions WHERE ordered = 0'),
    begin: db.prepare<DeletionRow, Deletion>(
      `INSERT INTO deletions (project_id, what, target, ordered, upto, created_at)
       VALUES (@projectId, @what, @target, @ordered, @upTo, @at) RETURNING seq, project_id, what, upto, created_at`,
    ),
    note: db.prepare<ItemDraft & { deletion: number }>(
      `INSERT INTO deletion_items (deletion, kind, trace_id, id, started_at)
       VALUES (@deletion, @kind, @trace_id, @id, @started_at)`,
    ),
    order: db.prepare<[number]>('UPDATE deletions SET ordered = 1 WHERE seq = ?'),
    pending: db.prepare<[], Deletion>(
      'SELECT seq, project_id, what, upto, created_at FROM deletions WHERE ordered = 1 ORDER BY seq',
    ),
    ofTarget: db.prepare<[string, string], Deletion>(
      `SELECT seq, project_id, what, upto, created_at FROM deletions
       WHERE project_id = ? AND target = ? AND ordered = 1 ORDER BY seq`,
    ),
    ofProject: db.prepare<[string], Deletion>(
      `SELECT seq, project_id, what, upto, created_at FROM deletions WHERE project_id = ? AND what = 'project'`,
    ),
    items: db.prepare<{ deletion: number; kind: DeletionItem['kind']; after: number; limit: number }, DeletionItem>(
      `SELECT seq, kind, trace_id, id, started_at FROM deletion_items
       WHERE deletion = @deletion AND kind = @kind AND seq > @after
       ORDER BY seq LIMIT @limit`,
    ),
    forgetItems: db.prepare<[number, number]>(
      'DELETE FROM deletion_items WHERE seq IN (SELECT seq FROM deletion_items WHERE deletion = ? LIMIT ?)',
    ),
    forget: db.prepare<[number]>('DELETE FROM deletions WHERE seq = ?'),
    projectExists: db.prepare<[string], number>('SELECT 1 FROM projects WHERE id = ?').pluck(),
    endKeys: db.prepare<[string]>('DELETE FROM api_keys WHERE project_id = ?'),
    endLinks: db.prepare<[Micros, string]>(
      'UPDATE feedback_links SET revoked_at = coalesce(revoked_at, ?) WHERE project_id = ?',
    ),
  };
}

/** The deletions noted in the SQLite file, and the removal of its own rows. */
export class SqliteDeletionStore extends WatchedStore<ReturnType<typeof prepare>> implements DeletionStore {
  readonly #spanSteps: ReturnType<typeof spanSteps>;
  readonly #removeSomeOfProject: (projectId: string) => boolean;

  constructor(db: Database) {
    super(db, prepare);
    this.#spanSteps = spanSteps(db);
    this.#removeSomeOfProject = projectRemoval(db);
  }

  abandon(): void {
    guarded(() => this.statements.abandon.run());
  }

  begin(draft: DeletionDraft, items: readonly ItemDraft[], ordered: boolean): Deletion {
    const { projectId, upTo, at } = draft;
    return this.#transaction(() => {
      const deletion = this.#insert({
        ...{ projectId, upTo, at },
        ...{ what: 'spans', target: targetOf(draft), ordered: ordered ? 1 : 0 },
      });
      this.#note(deletion.seq, items);
      return deletion;
    });
  }

  note(deletion: number, items: readonly ItemDraft[]): void {
    this.#transaction(() => {
      this.#note(deletion, items);
    });
  }

  order(deletion: number): void {
    guarded(() => this.statements.order.run(deletion));
  }

  orderProject(projectId: string, at: Micros): Deletion | null {
    const { projectExists, ofProject, endKeys, endLinks } = this.statements;
    return this.#transaction(() => {
      if (projectExists.get(projectId) === undefined) return null;
      endKeys.run(projectId);
      endLinks.run(at, projectId);
      const known = ofProject.get(projectId);
      return known ?? this.#insert({ projectId, what: 'project', target: 'project', ordered: 1, upTo: at, at });
    });
  }

  pending(target?: DeletionTarget): Deletion[] {
    const { pending, ofTarget } = this.statements;
    return guarded(() => (target === undefined ? pending.all() : ofTarget.all(target.projectId, targetOf(target))));
  }

  items(deletion: number, kinds: readonly DeletionItem['kind'][], after: number, limit: number): DeletionItem[] {
    // Each kind by itself comes in the order of its index: all that is left would be sorted for every page otherwise.
    const found = guarded(() => kinds.flatMap((kind) => this.statements.items.all({ deletion, kind, after, limit })));
    return kinds.length === 1 ? found : found.sort((one, other) => one.seq - other.seq).slice(0, limit);
  }

  knows(projectId: string, spanId: string): boolean {
    const spans = JSON.stringify([{ id: spanId, before: null }]);
    return guarded(
      () => this.statements.knows.get({ deletion: 0, projectId, spans, until: Number.MAX_SAFE_INTEGER }) === 1,
    );
  }

  withRecords(projectId: string, spanIds: readonly string[]): string[] {
    const spans = JSON.stringify(spanIds.map((id) => ({ id, before: null })));
    // Most projects have no rows in most of the tables: asking that once is nearly nothing, asking for each span is not.
    return guarded(() => {
      const used = this.statements.records.filter(({ any }) => any.get(projectId) === 1);
      return [...new Set(used.flatMap(({ about }) => about.all({ projectId, spans })))];
    });
  }

  removeSpans({ seq, project_id, created_at }: Deletion, spans: readonly DeletedSpan[]): Affected {
    const { failJobs, judges, jobs } = this.statements;
    const of = { deletion: seq, projectId: project_id, spans: JSON.stringify(spans), until: created_at };
    return this.#transaction(() => {
      const affected = { judges: judges.all(of), jobs: jobs.all(of) };
      for (const step of this.#spanSteps) step(of);
      failJobs.run({ ...of, error: JOB_ERROR, at: Date.now() * 1000 });
      return affected;
    });
  }

  removeSomeOfProject({ project_id }: Deletion): boolean {
    return this.#transaction(() => this.#removeSomeOfProject(project_id));
  }

  finish(deletion: number): boolean {
    const { forgetItems, forget } = this.statements;
    return this.#transaction(() => {
      if (forgetItems.run(deletion, FORGOTTEN_AT_ONCE).changes === FORGOTTEN_AT_ONCE) return true;
      forget.run(deletion);
      return false;
    });
  }

  #insert(row: DeletionRow): Deletion {
    const deletion = this.statements.begin.get(row);
    if (deletion === undefined) throw new Error('An insert returned nothing');
    return deletion;
  }

  #note(deletion: number, items: readonly ItemDraft[]): void {
    for (const { kind, trace_id, id, started_at } of items)
      this.statements.note.run({ deletion, kind, trace_id, id, started_at });
  }

  #transaction<T>(work: () => T): T {
    return guarded(() => this.db.transaction(work).immediate());
  }
}

function targetOf({ kind, id }: Pick<DeletionTarget, 'kind' | 'id'>): string {
  return `${kind}/${id}`;
}
