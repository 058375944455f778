import { DomainError } from '../../../engine/errors.js';
import { MAX_IMPORTED_OF_SPAN, MAX_IMPORTED_VERSIONS } from '../../judges/evaluation.js';
import { MAX_TAGS } from '../../prompts/prompt.js';
import { MAX_PRICES_PER_PROJECT } from '../../prices/schema.js';
import { MAX_DATASET_BYTES, MAX_DATASETS } from '../../datasets/dataset.js';
import {
  MAX_EXPERIMENTS,
  MAX_METRICS,
  MAX_SCORERS,
  MAX_TAGS as MAX_EXPERIMENT_TAGS,
} from '../../experiments/experiment.js';
import { MAX_COMPARISONS } from '../../comparisons/comparison-store.js';
import { MAX_COMMENTS, MAX_COMMENTS_OF_PROJECT } from '../../comments/comment.js';
import { MAX_DASHBOARDS } from '../../dashboards/schema.js';
import { MAX_SAVED_VIEWS } from '../../saved-views/schema.js';
import { MAX_DEFINITIONS } from '../../scores/schema.js';
import type { StoredRecord } from '../metadata-transfer.js';
import type { MetadataPart } from '../parts.js';
import type { HeldRows } from './held-rows.js';
import type { Database } from '../../../engine/metadata/database.js';
import { countOfTags } from '../../prompts/store/tag-pins.js';

/**
 * Demands that a project holds no more than it may, once records of a part are in, inside the transaction that stores them.
 * @throws DomainError `conflict`
 */
export type Bound = (projectId: string, records: readonly StoredRecord[]) => void;

/** The bounds of parts of which other calls take only so many, as they are read into memory. */
export function bounds(db: Database, held: HeldRows): Readonly<Partial<Record<MetadataPart, Bound>>> {
  return {
    prices: countBound(db, 'model_prices', MAX_PRICES_PER_PROJECT, 'prices'),
    score_definitions: countBound(db, 'score_definitions', MAX_DEFINITIONS, 'score definitions'),
    saved_views: countBound(db, 'saved_views', MAX_SAVED_VIEWS, 'saved views'),
    dashboards: countBound(db, 'dashboards', MAX_DASHBOARDS, 'dashboards'),
    datasets: countBound(db, 'datasets', MAX_DATASETS, 'datasets'),
    dataset_rows: datasetBound(db, held),
    experiments: countBound(db, 'experiments', MAX_EXPERIMENTS, 'experiments'),
    experiment_scorers: experimentBound(db, 'experiment_scorers', MAX_SCORERS, 'scorers'),
    experiment_metrics: experimentBound(db, 'experiment_metrics', MAX_METRICS, 'metrics'),
    experiment_tag_moves: experimentTagBound(db),
    comparisons: countBound(db, 'comparisons', MAX_COMPARISONS, 'comparisons'),
    tag_moves: tagBound(db),
    comments: commentBound(db),
    evaluations: evaluationBound(db),
  };
}

/** @param what the rows are called, in the plural */
function countBound(
  db: Database,
  table:
    | 'model_prices'
    | 'score_definitions'
    | 'saved_views'
    | 'dashboards'
    | 'datasets'
    | 'experiments'
    | 'comparisons'
    | 'comments',
  most: number,
  what: string,
): Bound {
  const count = db.prepare<[string], number>(`SELECT count(*) FROM ${table} WHERE project_id = ?`).pluck();
  return (projectId) => {
    const held = count.get(projectId) ?? 0;
    if (held > most)
      throw new DomainError(
        'conflict',
        `A project can have at most ${most} ${what}, and these would make ${held}; none were stored. ` +
          `Delete ${what} that the project does not need, then import again`,
      );
  };
}

function datasetBound(db: Database, held: HeldRows): Bound {
  const bytes = db
    .prepare<[string, string], number>('SELECT bytes FROM datasets WHERE project_id = ? AND id = ?')
    .pluck();
  return (projectId, records) => {
    for (const dataset of new Set(records.map(({ dataset_id }) => String(dataset_id))))
      if ((bytes.get(projectId, dataset) ?? 0) > MAX_DATASET_BYTES)
        throw new DomainError(
          'conflict',
          `The dataset ${dataset} would have more than ${MAX_DATASET_BYTES} bytes of rows; none of these were stored`,
        );
    held.check();
  };
}

/** @param what the rows are called, in the plural */
function experimentBound(
  db: Database,
  table: 'experiment_scorers' | 'experiment_metrics',
  most: number,
  what: string,
): Bound {
  const count = db
    .prepare<[string], number>(
      `SELECT count(*) FROM ${table} WHERE experiment = (SELECT seq FROM experiments WHERE id = ?)`,
    )
    .pluck();
  return (_projectId, records) => {
    for (const experiment of new Set(records.map(({ experiment_id }) => String(experiment_id))))
      if ((count.get(experiment) ?? 0) > most)
        throw new DomainError(
          'conflict',
          `The experiment ${experiment} would have more than ${most} ${what}; none of these were stored`,
        );
  };
}

function experimentTagBound(db: Database): Bound {
  const most = MAX_EXPERIMENT_TAGS;
  const count = db
    .prepare<[string, string], number>(
      'SELECT count(DISTINCT tag) FROM experiment_tag_moves WHERE project_id = ? AND dataset_id = ?',
    )
    .pluck();
  return (projectId, records) => {
    for (const dataset of new Set(records.map(({ dataset_id }) => String(dataset_id))))
      if ((count.get(projectId, dataset) ?? 0) > most)
        throw new DomainError(
          'conflict',
          `The experiments of the dataset ${dataset} would have more than ${most} tags, including removed ones; none of these moves were stored`,
        );
  };
}

function tagBound(db: Database): Bound {
  const count = db.prepare<{ prompt: string }, number>(countOfTags('@prompt', MAX_TAGS + 1)).pluck();
  return (_projectId, records) => {
    for (const prompt of new Set(records.map(({ prompt_id }) => String(prompt_id))))
      if ((count.get({ prompt }) ?? 0) > MAX_TAGS)
        throw new DomainError(
          'conflict',
          `The prompt ${prompt} would have more than ${MAX_TAGS} tags, including removed ones; none of these moves were stored. ` +
            'Remove unneeded tags from the import',
        );
  };
}

function commentBound(db: Database): Bound {
  const ofProject = countBound(db, 'comments', MAX_COMMENTS_OF_PROJECT, 'comments');
  const count = db
    .prepare<[string, string], number>('SELECT count(*) FROM comments WHERE project_id = ? AND trace_id = ?')
    .pluck();
  return (projectId, records) => {
    ofProject(projectId, records);
    for (const trace of new Set(records.map(({ trace_id }) => String(trace_id))))
      if ((count.get(projectId, trace) ?? 0) > MAX_COMMENTS)
        throw new DomainError(
          'conflict',
          `The trace ${trace} would have more than ${MAX_COMMENTS} comments; none of these were stored`,
        );
  };
}

function evaluationBound(db: Database): Bound {
  const demands = [spanBound(db), versionBound(db)];
  return (projectId, records) => {
    for (const demand of demands) demand(projectId, records);
  };
}

function spanBound(db: Database): Bound {
  const most = MAX_IMPORTED_OF_SPAN;
  const count = db
    .prepare<[string, string], number>(
      `SELECT count(*) FROM (SELECT 1 FROM evaluations WHERE project_id = ? AND span_id = ? LIMIT ${most + 1})`,
    )
    .pluck();
  return (projectId, records) => {
    for (const span of new Set(records.map(({ span_id }) => String(span_id))))
      if ((count.get(projectId, span) ?? 0) > most)
        throw new DomainError(
          'conflict',
          `The span ${span} would exceed the limit of ${most} evaluations; none of these were stored`,
        );
  };
}

function versionBound(db: Database): Bound {
  const most = MAX_IMPORTED_VERSIONS;
  const count = db
    .prepare<[string], number>(
      `SELECT count(*) FROM (SELECT 1 FROM judge_versions WHERE judge_id = ? LIMIT ${most + 1})`,
    )
    .pluck();
  return (_projectId, records) => {
    const named = records.filter(({ judge_version }) => judge_version !== null);
    for (const judge of new Set(named.map(({ judge_id }) => String(judge_id))))
      if ((count.get(judge) ?? 0) > most)
        throw new DomainError(
          'conflict',
          `The judge ${judge} would have evaluations by more than ${most} versions (judge_version); none of these were stored. ` +
            'Remove unneeded versions from the import',
        );
  };
}
