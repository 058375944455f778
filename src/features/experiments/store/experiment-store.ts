import { randomUUID } from 'node:crypto';
import { guarded, type Database } from '../../../engine/metadata/database.js';
import { pointed, pointing, TagMoves, type MoveTable } from '../../../engine/metadata/tag-moves.js';
import type { Window } from '../../../engine/schema/page.js';
import type { Micros } from '../../../engine/timestamp.js';
import {
  ANY,
  EXPIRES_AFTER_MICROS,
  type Experiment,
  type ExperimentDraft,
  type ExperimentFilter,
  type ExperimentPatch,
  type ExperimentStore,
  type ExperimentTagMove,
  type NotedResults,
  type Phase,
  type StoredStatus,
} from '../experiment.js';

interface Row extends Omit<Experiment, 'dataset' | 'rows' | 'subject' | 'parameters' | 'tags'> {
  readonly dataset_id: string;
  readonly dataset_name: string;
  /** Null: the dataset is gone. */
  readonly current_name: string | null;
  readonly row_count: number;
  readonly subject: string;
  readonly parameters: string;
  /** JSON array. */
  readonly tags: string;
}

type Asked = ExperimentFilter & { readonly projectId: string; readonly id: string | null; readonly now: Micros };

const MOVES: MoveTable = {
  table: 'experiment_tag_moves',
  owner: ['project_id', 'dataset_id'],
  target: 'experiment_id',
  nowhere: "''",
};
/** What its tags are of. */
const OWNER = { project_id: 'e.project_id', dataset_id: 'e.dataset_id' };
const CURRENT_NAME = `(SELECT name FROM datasets WHERE id = e.dataset_id AND project_id = e.project_id AND deleted_at IS NULL)`;
const STATUS = `CASE WHEN e.status = 'running' AND e.active_at < @now - ${EXPIRES_AFTER_MICROS} THEN 'expired' ELSE e.status END`;
const SELECT = `SELECT e.id, e.name, e.description, e.dataset_id, e.dataset_name, ${CURRENT_NAME} AS current_name, e.dataset_version,
    e.row_count, e.repetitions, ${STATUS} AS status, e.phase, e.subject, e.parameters, e.created_at, e.created_by, e.finished_at,
    e.active_at, (SELECT json_group_array(tag) FROM (SELECT tag FROM (${pointing(MOVES, OWNER)}) WHERE target = e.id ORDER BY tag)) AS tags`;

/** The condition of each filter. */
const CONDITIONS: Readonly<Record<keyof ExperimentFilter, string>> = {
  q: 'instr(lower(e.name), lower(@q)) > 0',
  name: 'e.name = @name',
  dataset: `(e.dataset_id = @dataset OR coalesce(${CURRENT_NAME}, e.dataset_name) = @dataset)`,
  status: `${STATUS} = @status`,
  phase: "coalesce(e.phase, 'none') = @phase",
  tag: `${pointed(MOVES, OWNER, '@tag')} = e.id`,
  commit: 'e.subject_commit = @commit',
  branch: 'e.subject_branch = @branch',
  prompt: 'e.subject_prompt = @prompt',
};
const FOUND = `FROM experiments AS e INDEXED BY experiments_in_order WHERE e.project_id = @projectId AND e.deleted_at IS NULL`;

function prepare(db: Database) {
  return {
    find: db.prepare<Asked, Row>(
      `${SELECT} FROM experiments AS e WHERE e.id = @id AND e.project_id = @projectId AND e.deleted_at IS NULL`,
    ),
    create: db.prepare<object>(
      `INSERT INTO experiments (id, project_id, name, description, dataset_id, dataset_name, dataset_version, row_count, repetitions,
         status, active_at, created_at, created_by, subject_commit, subject_branch, subject_prompt, subject, parameters)
       VALUES (@id, @projectId, @name, @description, @dataset_id, @dataset_name, @dataset_version, @rows, @repetitions,
         'running', @created_at, @created_at, @created_by, @commit, @branch, @prompt, @subject, @parameters)`,
    ),
    change: db.prepare<object>(
      `UPDATE experiments SET name = coalesce(@name, name), description = coalesce(@description, description),
         repetitions = coalesce(@repetitions, repetitions), parameters = coalesce(@parameters, parameters) WHERE id = @id`,
    ),
    setSubject: db.prepare<object>(
      `UPDATE experiments SET subject = @subject, subject_commit = @commit, subject_branch = @branch, subject_prompt = @prompt
       WHERE id = @id`,
    ),
    setStatus: db.prepare<object>(
      `UPDATE experiments SET status = @status, phase = @phase, finished_at = CASE WHEN @status = 'running' THEN NULL ELSE @at END,
         active_at = CASE WHEN @status = 'running' THEN max(active_at, @at) ELSE active_at END WHERE id = @id`,
    ),
    noteResults: db.prepare<object>(
      `UPDATE experiments SET strays = strays + @strays, repetitions = max(repetitions, @repetitions), active_at = max(active_at, @at)
       WHERE id = @id`,
    ),
    strays: db.prepare<[string], number>('SELECT strays FROM experiments WHERE id = ?').pluck(),
    setStrays: db.prepare<[number, string]>('UPDATE experiments SET strays = ? WHERE id = ?'),
    noteActive: db.prepare<[Micros, string]>('UPDATE experiments SET active_at = max(active_at, ?) WHERE id = ?'),
    datasetOf: db
      .prepare<[string, string], string>('SELECT dataset_id FROM experiments WHERE id = ? AND project_id = ?')
      .pluck(),
    hide: db.prepare<[Micros, string]>('UPDATE experiments SET deleted_at = ? WHERE id = ?'),
    hidden: db.prepare<[], { id: string; project_id: string }>(
      'SELECT id, project_id FROM experiments WHERE deleted_at IS NOT NULL ORDER BY deleted_at',
    ),
    forget: ['experiment_scorers', 'experiment_metrics', 'experiment_judges'].map((table) =>
      db.prepare<[string]>(`DELETE FROM ${table} WHERE experiment = (SELECT seq FROM experiments WHERE id = ?)`),
    ),
    forgetRuns: db.prepare<[string]>(`DELETE FROM jobs WHERE kind = 'experiment_run' AND subject_id = ?`),
    remove: db.prepare<[string]>('DELETE FROM experiments WHERE id = ?'),
    newestNamed: db.prepare<{ projectId: string; names: string }, { name: string; id: string }>(
      `SELECT n.value AS name, e.id FROM json_each(@names) AS n CROSS JOIN experiments AS e ON e.seq = (
         SELECT seq FROM experiments INDEXED BY experiments_by_name
         WHERE project_id = @projectId AND name = n.value AND deleted_at IS NULL ORDER BY created_at DESC, seq DESC LIMIT 1)`,
    ),
    name: db
      .prepare<[string, string], string>(
        'SELECT name FROM experiments WHERE id = ? AND project_id = ? AND deleted_at IS NULL',
      )
      .pluck(),
  };
}

/** Experiments in the SQLite file. */
export class SqliteExperimentStore implements ExperimentStore {
  readonly #db: Database;
  readonly #statements: ReturnType<typeof prepare>;
  readonly #moves: TagMoves<string>;

  constructor(db: Database) {
    this.#db = db;
    this.#statements = prepare(db);
    this.#moves = new TagMoves(db, MOVES);
  }

  create(projectId: string, { dataset, subject, parameters, ...draft }: ExperimentDraft): Experiment {
    const id = randomUUID();
    const row = {
      ...{ ...draft, ...toSubject(subject), id, projectId, parameters: JSON.stringify(parameters) },
      ...{ dataset_id: dataset.id, dataset_name: dataset.name },
    };
    guarded(() => this.#statements.create.run(row));
    const created = this.find(projectId, id);
    if (created === undefined) throw new Error('An experiment that was created is not there');
    return created;
  }

  find(projectId: string, id: string): Experiment | undefined {
    const row = guarded(() => this.#statements.find.get(asked(projectId, ANY, id)));
    return row && toExperiment(row);
  }

  list(projectId: string, filter: ExperimentFilter, window: Window): Experiment[] {
    const page = `ORDER BY e.created_at DESC, e.seq DESC LIMIT @limit OFFSET @offset`;
    const rows = guarded(() =>
      this.#db
        .prepare<Asked & Window, Row>(`${SELECT} ${found(filter)} ${page}`)
        .all({ ...asked(projectId, filter), ...window }),
    );
    return rows.map(toExperiment);
  }

  newestNamed(projectId: string, names: readonly string[]): ReadonlyMap<string, string> {
    const rows = guarded(() => this.#statements.newestNamed.all({ projectId, names: JSON.stringify(names) }));
    return new Map(rows.map(({ name, id }) => [name, id]));
  }

  count(projectId: string, filter: ExperimentFilter): number {
    const statement = `SELECT count(*) ${found(filter)}`;
    return guarded(() => this.#db.prepare<Asked, number>(statement).pluck().get(asked(projectId, filter)) ?? 0);
  }

  change(id: string, { name, description, repetitions, subject, parameters }: ExperimentPatch): void {
    const set = { id, name: name ?? null, description: description ?? null, repetitions: repetitions ?? null };
    guarded(() =>
      this.#db.transaction(() => {
        this.#statements.change.run({
          ...set,
          parameters: parameters === undefined ? null : JSON.stringify(parameters),
        });
        if (subject !== undefined) this.#statements.setSubject.run({ id, ...toSubject(subject) });
      })(),
    );
  }

  setStatus(id: string, status: StoredStatus, phase: Phase | null, at: Micros): void {
    guarded(() => this.#statements.setStatus.run({ id, status, phase, at }));
  }

  noteResults(id: string, noted: NotedResults): void {
    guarded(() => this.#statements.noteResults.run({ id, ...noted }));
  }

  strays(id: string): number {
    return guarded(() => this.#statements.strays.get(id) ?? 0);
  }

  setStrays(id: string, strays: number): void {
    guarded(() => this.#statements.setStrays.run(strays, id));
  }

  noteActive(id: string, at: Micros): void {
    guarded(() => this.#statements.noteActive.run(at, id));
  }

  hide(projectId: string, id: string, at: Micros, by: string): void {
    const hide = this.#db.transaction(() => {
      const dataset = this.#statements.datasetOf.get(id, projectId) ?? '';
      for (const { tag, target } of this.#moves.all({ project_id: projectId, dataset_id: dataset }))
        if (target === id) this.moveTag(projectId, dataset, tag, null, at, by);
      this.#statements.hide.run(at, id);
    });
    guarded(hide);
  }

  hidden(): { readonly id: string; readonly project_id: string }[] {
    return guarded(() => this.#statements.hidden.all());
  }

  forget(id: string): void {
    const forget = this.#db.transaction(() => {
      for (const statement of this.#statements.forget) statement.run(id);
      this.#statements.forgetRuns.run(id);
      this.#statements.remove.run(id);
    });
    guarded(forget);
  }

  tagged(projectId: string, datasetId: string, tag: string): string | undefined {
    return this.#moves.find({ project_id: projectId, dataset_id: datasetId }, tag);
  }

  countTags(projectId: string, datasetId: string): number {
    return this.#moves.count({ project_id: projectId, dataset_id: datasetId });
  }

  moveTag(projectId: string, datasetId: string, tag: string, id: string | null, at: Micros, by: string): void {
    this.#moves.move({ owner: { project_id: projectId, dataset_id: datasetId }, tag, target: id, at, by });
  }

  tagMoves(projectId: string, datasetId: string, tag: string, window: Window): ExperimentTagMove[] {
    const moves = this.#moves.history({ project_id: projectId, dataset_id: datasetId }, tag, window);
    return moves.map(({ target: id, ...move }) => ({
      ...move,
      target: id === null ? null : { id, name: guarded(() => this.#statements.name.get(id, projectId)) ?? null },
    }));
  }
}

function asked(projectId: string, filter: ExperimentFilter, id: string | null = null): Asked {
  return { ...filter, projectId, id, now: Date.now() * 1000 };
}

/** SQL for what a filter finds: of those that are given alone, as each costs a step for every experiment. */
function found(filter: ExperimentFilter): string {
  const given = Object.entries(CONDITIONS).filter(([name]) => filter[name as keyof ExperimentFilter] !== null);
  return [FOUND, ...given.map(([, condition]) => condition)].join(' AND ');
}

function toSubject(subject: Experiment['subject']) {
  const text = (name: string) => (typeof subject[name] === 'string' ? subject[name] : null);
  const [commit, branch, prompt] = [text('commit'), text('branch'), text('prompt_slug')];
  return { subject: JSON.stringify(subject), commit, branch, prompt };
}

function toExperiment({ dataset_id, dataset_name, current_name, row_count, ...row }: Row): Experiment {
  return {
    ...row,
    dataset: { id: dataset_id, name: current_name ?? dataset_name, gone: current_name === null },
    rows: row_count,
    subject: JSON.parse(row.subject) as Experiment['subject'],
    parameters: JSON.parse(row.parameters) as Experiment['parameters'],
    tags: JSON.parse(row.tags) as string[],
  };
}
