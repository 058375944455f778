import type { Database } from '../../../engine/metadata/database.js';
import { removeOld } from '../../../engine/metadata/tag-moves.js';
import {
  MAX_METRIC_BYTES,
  MAX_METRICS,
  MAX_RESULTS,
  MAX_SCORER_BYTES,
  MAX_SCORERS,
} from '../../experiments/experiment.js';
import type { MetadataPart } from '../parts.js';
import { missing, owners, TAKEN, text, type By, type Misfit, type Owners, type Take, type Values } from './take.js';

/** How the records of experiments are stored. */
export function experimentTakers(db: Database, by: By) {
  const own = owners(db, 'experiments');
  return {
    experiments: experimentTaker(db, by, own),
    experiment_scorers: scorerTaker(db, own),
    experiment_metrics: metricTaker(db, own),
    experiment_tag_moves: moveTaker(db, by),
    comparisons: comparisonTaker(db, by, own),
  } satisfies Partial<Record<MetadataPart, Take>>;
}

function experimentTaker(db: Database, by: By, own: Owners): Take {
  // How many results it has is not known before its spans are counted.
  const insert = db.prepare<Values>(
    `INSERT INTO experiments (id, project_id, name, description, dataset_id, dataset_name, dataset_version, row_count, repetitions,
       status, phase, active_at, created_at, created_by, finished_at, strays, subject_commit, subject_branch, subject_prompt, subject,
       parameters)
     VALUES (@id, @project_id, @name, @description, @dataset_id, @dataset_name, @dataset_version, @row_count, @repetitions,
       @status, @phase, @active_at, @created_at, @created_by, @finished_at, ${MAX_RESULTS}, @commit, @branch, @prompt, @subject,
       @parameters)`,
  );
  return (project_id, record) => {
    const there = own.alreadyThere(project_id, record['id']);
    if (there !== undefined) return there;
    if (Number(record['row_count']) * Number(record['repetitions']) > MAX_RESULTS)
      return { field: 'repetitions', detail: `would make more than ${MAX_RESULTS} results with this \`row_count\`` };
    const subject = record['subject'] as Readonly<Record<string, unknown>>;
    const said = (name: string) => (typeof subject[name] === 'string' ? subject[name] : null);
    insert.run({
      ...{ ...record, project_id, subject: text(subject), parameters: text(record['parameters']) },
      ...{ commit: said('commit'), branch: said('branch'), prompt: said('prompt_slug') },
      created_by: by(project_id, record['created_by']),
    });
    return true;
  };
}

function scorerTaker(db: Database, own: Owners): Take {
  const known = db.prepare<[unknown], number>('SELECT experiment FROM experiment_scorers WHERE id = ?').pluck();
  const named = db
    .prepare<Values, number>(
      'SELECT 1 FROM experiment_scorers WHERE experiment = @experiment AND name = @name AND mode = @mode',
    )
    .pluck();
  const insert = db.prepare<Values>(
    `INSERT INTO experiment_scorers (id, experiment, name, mode, code, description, outputs, output_formats, created_at)
     VALUES (@id, @experiment, @name, @mode, @code, @description, @outputs, @output_formats, @created_at)`,
  );
  const room = roomIn(db, 'experiment_scorers', ['code', 'description', 'outputs', 'output_formats'], {
    count: MAX_SCORERS,
    bytes: MAX_SCORER_BYTES,
  });
  return (projectId, record) => {
    const experiment = own.seqOf(projectId, record['experiment_id']);
    if (experiment === undefined) return missing('experiment_id', 'experiment');
    const owner = known.get(record['id']);
    if (owner === experiment) return false;
    if (owner !== undefined) return { field: 'id', detail: TAKEN, taken: true };
    const row = { ...record, experiment };
    if (named.get(row) === 1)
      return { field: 'name', detail: 'is the name of another scorer of the experiment', taken: true };
    const values = { ...row, outputs: text(record['outputs']), output_formats: text(record['output_formats']) };
    const full = room(experiment, values);
    if (full !== undefined) return full;
    insert.run(values);
    return true;
  };
}

function metricTaker(db: Database, own: Owners): Take {
  const insert = db.prepare<Values>(
    `INSERT INTO experiment_metrics (experiment, scope, name, repetition, results, output_formats, created_at)
     VALUES (@experiment, @scope, @name, @repetition, @results, @output_formats, @created_at)`,
  );
  const known = db
    .prepare<Values, number>(
      `SELECT 1 FROM experiment_metrics
       WHERE experiment = @experiment AND scope = @scope AND name = @name AND repetition = @repetition`,
    )
    .pluck();
  const room = roomIn(db, 'experiment_metrics', ['results', 'output_formats'], {
    count: MAX_METRICS,
    bytes: MAX_METRIC_BYTES,
  });
  return (projectId, record) => {
    const experiment = own.seqOf(projectId, record['experiment_id']);
    if (experiment === undefined) return missing('experiment_id', 'experiment');
    const json = { results: text(record['results']), output_formats: text(record['output_formats']) };
    const values = { ...record, ...json, experiment };
    if (known.get(values) === 1) return false;
    const full = room(experiment, values);
    if (full !== undefined) return full;
    insert.run(values);
    return true;
  };
}

/** Refuses what an experiment cannot keep beside what it has of the same. @param columns the texts */
function roomIn(
  db: Database,
  table: string,
  columns: readonly string[],
  most: Readonly<Record<'count' | 'bytes', number>>,
) {
  const sizes = columns.map((column) => `length(CAST(${column} AS BLOB))`).join(' + ');
  const held = db.prepare<[number], { count: number; bytes: number }>(
    `SELECT count(*) AS count, coalesce(sum(${sizes}), 0) AS bytes FROM ${table} WHERE experiment = ?`,
  );
  return (experiment: number, values: Values): Misfit | undefined => {
    const { count, bytes } = held.get(experiment) ?? { count: 0, bytes: 0 };
    const added = columns.reduce((sum, column) => sum + Buffer.byteLength(String(values[column])), 0);
    if (count < most.count && bytes + added <= most.bytes) return undefined;
    const detail = `already has the maximum of these: ${most.count}, or ${most.bytes} bytes`;
    return { field: 'experiment_id', detail, taken: true };
  };
}

/** Moves to experiments that are gone are history. */
function moveTaker(db: Database, by: By): Take {
  const known = db
    .prepare<Values, number>(
      `SELECT 1 FROM experiment_tag_moves WHERE project_id = @project_id AND dataset_id = @dataset_id AND tag = @tag
         AND moved_at = @moved_at AND experiment_id = @experiment_id LIMIT 1`,
    )
    .pluck();
  const insert = db.prepare<Values>(
    `INSERT INTO experiment_tag_moves (project_id, dataset_id, tag, experiment_id, moved_at, moved_by)
     VALUES (@project_id, @dataset_id, @tag, @experiment_id, @moved_at, @moved_by)`,
  );
  const removeOldMoves = db.prepare<Values>(
    removeOld({ table: 'experiment_tag_moves', owner: ['project_id', 'dataset_id'] }),
  );
  return (project_id, record) => {
    const row = { ...record, project_id, experiment_id: record['experiment_id'] ?? '' };
    if (known.get(row) === 1) return false;
    insert.run({ ...row, moved_by: by(project_id, record['moved_by']) });
    removeOldMoves.run(row);
    return true;
  };
}

function comparisonTaker(db: Database, by: By, own: Owners): Take {
  const known = db.prepare<[unknown], string>('SELECT project_id FROM comparisons WHERE id = ?').pluck();
  const insert = db.prepare<Values>(
    `INSERT INTO comparisons (id, project_id, dataset_id, dataset_name, candidate_id, candidate_name, candidate_version,
       baseline_id, baseline_name, baseline_version, verdict, is_repeat, request, found, created_at, created_by)
     VALUES (@id, @project_id, @dataset_id, @dataset_name, @candidate_id, @candidate_name, @candidate_version,
       @baseline_id, @baseline_name, @baseline_version, @verdict, @is_repeat, @request, @found, @created_at, @created_by)`,
  );
  return (project_id, record) => {
    const owner = known.get(record['id']);
    if (owner === project_id) return false;
    if (owner !== undefined) return { field: 'id', detail: TAKEN, taken: true };
    for (const field of ['candidate_id', 'baseline_id'])
      if (own.seqOf(project_id, record[field]) === undefined) return missing(field, 'experiment');
    const json = { request: text(record['request']), found: text(record['found']) };
    const is_repeat = record['is_repeat'] === true ? 1 : 0;
    insert.run({ ...record, ...json, is_repeat, project_id, created_by: by(project_id, record['created_by']) });
    return true;
  };
}
