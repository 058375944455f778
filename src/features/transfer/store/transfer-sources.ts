import { liveComparison } from '../../comparisons/store/comparison-store.js';
import type { MetadataPart } from '../parts.js';
import { MAX_JUDGED_TRACES, MAX_REVISIONS } from '../records.js';
import { SETTING_NAMES } from '../../judges/settings.js';
import { STORED_AS } from '../../judges/store/judge-rows.js';
import { NO_VERSION } from '../../prompts/store/tag-pins.js';

/** What rows are found by: an index that has the project in front, or else each prompt, judge, dataset or experiment of the project. */
export type GroupedBy = 'project' | 'prompt' | 'judge' | 'dataset' | 'experiment';

/** Where the records of a part are read. */
export interface Source {
  readonly by: GroupedBy;
  readonly select: string;
  readonly from: string;
  /** The condition for the rows of `@group`; up to `@asOf`, where their order is that of time. */
  readonly where: string;
  /** Which of them are there up to `@asOf`, where their order is another. Default: all. */
  readonly until?: string;
  /** The order of the rows, each with another value. */
  readonly keys: readonly string[];
  /** Fields that are stored as JSON. */
  readonly json: readonly string[];
  /** Fields that are stored as 0 and 1. */
  readonly flags: readonly string[];
}

const person = (user: string) =>
  `(SELECT json_object('id', u.id, 'name', u.name) FROM users AS u WHERE u.id = ${user})`;
/** Whatever was counted since an import, another installation takes it. */
const counted = (revision: string) => `min(ifnull(${revision}, 0), ${MAX_REVISIONS})`;
const SAID = `t.thumbs_up, t.reason, t.expected_output, t.expected_score, t.score_direction, t.criteria_feedback`;
/** SQL for the number of the newest version of a dataset then. */
const LAST_VERSION =
  'ifnull((SELECT max(number) FROM dataset_versions WHERE dataset_id = @group AND created_at <= @asOf), 0)';
const JUDGED_TRACES = `iif(t.subject_id IS NULL, NULL, (SELECT json_group_array(trace_id) FROM (
  SELECT trace_id FROM judged_traces WHERE run_id = t.id ORDER BY trace_id LIMIT ${MAX_JUDGED_TRACES})))`;
const PIN_EXAMPLES = `(SELECT json_group_array(id) FROM (SELECT e.id FROM judge_pin_corrections AS c
  JOIN judge_pin_examples AS e ON e.seq = c.example WHERE c.pin = t.seq ORDER BY c.position))`;
const OF_EXPERIMENT = 't.experiment = (SELECT seq FROM experiments WHERE id = @group)';
const plain = { json: [], flags: [] };
const GIVEN_FIELDS = `${SAID}, t.metadata, t.created_at, t.updated_at, ${person('t.user_id')} AS created_by,
      (SELECT g.link_id FROM feedback_guests AS g WHERE g.user_id = t.user_id LIMIT 1) AS feedback_link_id`;
const GIVEN = {
  keys: ['t.created_at', 't.id'],
  json: ['criteria_feedback', 'metadata', 'created_by'],
  flags: ['thumbs_up'],
};

/** The sources of all parts, in the names of their records. */
export const SOURCES: Readonly<Record<MetadataPart, Source>> = {
  prompts: {
    ...plain,
    by: 'project',
    select: 't.id, t.slug, t.last_version, t.created_at',
    from: 'prompts AS t',
    where: 't.project_id = @group',
    until: 't.created_at <= @asOf',
    keys: ['t.slug'],
  },
  prompt_versions: {
    ...plain,
    by: 'prompt',
    select: `t.id, t.prompt_id, t.version, t.content, t.is_chat, t.config, t.content_hash, t.model_id, t.metadata, t.created_at,
      ${person('t.created_by')} AS created_by, t.updated_at`,
    from: 'prompt_versions AS t',
    where: 't.prompt_id = @group',
    until: 't.created_at <= @asOf',
    keys: ['t.version'],
    json: ['metadata', 'config', 'created_by'],
    flags: ['is_chat'],
  },
  tag_moves: {
    ...plain,
    by: 'prompt',
    select: `t.prompt_id, t.tag, nullif(t.version, ${NO_VERSION}) AS version, t.pinned_at,
      ${person('t.pinned_by')} AS pinned_by`,
    from: 'prompt_tag_pins AS t',
    where: 't.prompt_id = @group',
    until: 'ifnull(t.stored_at, t.pinned_at) <= @asOf',
    keys: ['t.tag', 't.pinned_at', 't.id'],
    json: ['pinned_by'],
  },
  prices: {
    ...plain,
    by: 'project',
    select: `t.provider, t.model, t.input_per_million, t.output_per_million, t.cache_read_per_million, t.created_at,
      t.updated_at`,
    from: 'model_prices AS t',
    where: 't.project_id = @group',
    until: 't.created_at <= @asOf',
    keys: ['t.provider', 't.model'],
  },
  score_definitions: {
    ...plain,
    by: 'project',
    select: 't.name, t.kind, t.min, t.max, t.categories, t.direction, t.description, t.created_at, t.updated_at',
    from: 'score_definitions AS t',
    where: 't.project_id = @group',
    until: 't.created_at <= @asOf',
    keys: ['t.name'],
    json: ['categories'],
  },
  saved_views: {
    ...plain,
    by: 'project',
    select: `t.id, t.name, t.list, t.query, t.columns, t.created_at, ${person('t.created_by')} AS created_by, t.updated_at`,
    from: 'saved_views AS t',
    where: 't.project_id = @group',
    until: 't.created_at <= @asOf',
    keys: ['t.name'],
    json: ['columns', 'created_by'],
  },
  dashboards: {
    ...plain,
    by: 'project',
    select: `t.id, t.name, t."window", t.charts, t.version, t.created_at, ${person('t.created_by')} AS created_by,
      t.updated_at`,
    from: 'dashboards AS t',
    where: 't.project_id = @group',
    until: 't.created_at <= @asOf',
    keys: ['t.name'],
    json: ['charts', 'created_by'],
  },
  datasets: {
    ...plain,
    by: 'project',
    select: `t.id, t.name, t.description, t.roles, t.created_at, ${person('t.created_by')} AS created_by, t.updated_at`,
    from: 'datasets AS t',
    where: 't.project_id = @group AND t.deleted_at IS NULL',
    until: 't.created_at <= @asOf',
    keys: ['t.name'],
    json: ['roles', 'created_by'],
  },
  dataset_versions: {
    ...plain,
    by: 'dataset',
    select: `t.id, t.dataset_id, t.number, t.message, t.columns, t.row_count, t.added, t.changed, t.removed, t.created_at,
      ${person('t.created_by')} AS created_by`,
    from: 'dataset_versions AS t',
    where: 't.dataset_id = @group',
    until: 't.created_at <= @asOf',
    keys: ['t.number'],
    json: ['columns', 'created_by'],
  },
  dataset_rows: {
    ...plain,
    by: 'dataset',
    select: `@group AS dataset_id, t.row_id, t.position, t.from_version, CASE WHEN t.to_version <= ${LAST_VERSION} THEN t.to_version END AS to_version,
      (SELECT content FROM dataset_contents WHERE seq = t.content) AS content, t.trace_id, t.span_id`,
    from: 'dataset_rows AS t',
    where: `t.dataset = (SELECT seq FROM datasets WHERE id = @group) AND t.from_version <= ${LAST_VERSION}`,
    keys: ['t.from_version', 't.seq'],
    json: ['content'],
  },
  dataset_tag_moves: {
    ...plain,
    by: 'dataset',
    select: `t.dataset_id, t.tag, nullif(t.number, 0) AS number, t.moved_at, ${person('t.moved_by')} AS moved_by`,
    from: 'dataset_tag_moves AS t',
    where: 't.dataset_id = @group',
    until: 't.moved_at <= @asOf',
    keys: ['t.tag', 't.id'],
    json: ['moved_by'],
  },
  experiments: {
    ...plain,
    by: 'project',
    select: `t.id, t.name, t.description, t.dataset_id, t.dataset_name, t.dataset_version, t.row_count, t.repetitions, t.status, t.phase,
      t.active_at, t.subject, t.parameters, t.created_at, ${person('t.created_by')} AS created_by, t.finished_at`,
    from: 'experiments AS t INDEXED BY experiments_in_order',
    where: 't.project_id = @group AND t.deleted_at IS NULL AND t.created_at <= @asOf',
    keys: ['t.created_at', 't.seq'],
    json: ['subject', 'parameters', 'created_by'],
  },
  experiment_scorers: {
    ...plain,
    by: 'experiment',
    select: `t.id, @group AS experiment_id, t.name, t.mode, t.code, t.description, t.outputs, t.output_formats, t.created_at`,
    from: 'experiment_scorers AS t',
    where: OF_EXPERIMENT,
    until: 't.created_at <= @asOf',
    keys: ['t.name', 't.mode'],
    json: ['outputs', 'output_formats'],
  },
  experiment_metrics: {
    ...plain,
    by: 'experiment',
    select: `@group AS experiment_id, t.scope, t.name, t.repetition, t.results, t.output_formats, t.created_at`,
    from: 'experiment_metrics AS t',
    where: OF_EXPERIMENT,
    until: 't.created_at <= @asOf',
    keys: ['t.scope', 't.name', 't.repetition'],
    json: ['results', 'output_formats'],
  },
  experiment_tag_moves: {
    ...plain,
    by: 'project',
    select: `t.dataset_id, t.tag, nullif(t.experiment_id, '') AS experiment_id, t.moved_at, ${person('t.moved_by')} AS moved_by`,
    from: 'experiment_tag_moves AS t INDEXED BY experiment_tag_moves_by_tag',
    where: 't.project_id = @group',
    until: 't.moved_at <= @asOf',
    keys: ['t.dataset_id', 't.tag', 't.moved_at', 't.id'],
    json: ['moved_by'],
  },
  comparisons: {
    ...plain,
    by: 'project',
    select: `t.id, t.dataset_id, t.dataset_name, t.candidate_id, t.candidate_name, t.candidate_version, t.baseline_id, t.baseline_name,
      t.baseline_version, t.verdict, t.is_repeat, t.request, t.found, t.created_at, ${person('t.created_by')} AS created_by`,
    from: 'comparisons AS t INDEXED BY comparisons_in_order',
    where: `t.project_id = @group AND t.created_at <= @asOf AND ${liveComparison('t')}`,
    keys: ['t.created_at', 't.seq'],
    json: ['request', 'found', 'created_by'],
    flags: ['is_repeat'],
  },
  feedback_links: {
    ...plain,
    by: 'project',
    select: `t.id, t.prompt_id, iif(t.spans IS NULL, t.link_type, 'span') AS link_type, t.spans AS span_ids, t.created_at,
      ${person('t.created_by')} AS created_by, t.expires_at, t.revoked_at`,
    from: 'feedback_links AS t',
    where: 't.project_id = @group AND t.created_at <= @asOf',
    keys: ['t.created_at', 't.id'],
    json: ['created_by', 'span_ids'],
  },
  judges: {
    by: 'project',
    select: `t.id, ${SETTING_NAMES.map((name) => `t.${name}`).join(', ')}, t.created_at,
      ${person('t.created_by')} AS created_by,
      t.updated_at, t.deleted_at, ${counted('s.revision')} AS corrections_revision,
      ${counted('s.last_removal')} AS corrections_last_removal`,
    from: 'judges AS t LEFT JOIN correction_sets AS s ON s.judge_id = t.id',
    where: 't.project_id = @group AND t.created_at <= @asOf',
    keys: ['t.created_at', 't.id'],
    json: [...STORED_AS.json, 'created_by'],
    flags: STORED_AS.flags,
  },
  pinned_examples: {
    ...plain,
    by: 'judge',
    select: 't.id, t.judge_id, t.span_id, t.example',
    from: 'judge_pin_examples AS t INDEXED BY judge_pin_examples_of_judge',
    where: 't.judge_id = @group',
    until: `EXISTS (SELECT 1 FROM judge_pin_corrections AS c JOIN judge_pins AS p ON p.seq = c.pin
      WHERE c.example = t.seq AND p.created_at <= @asOf)`,
    keys: ['t.seq'],
    json: ['example'],
  },
  pinned_versions: {
    ...plain,
    by: 'judge',
    select: `t.judge_id, t.judge_version, t.prompt_version_id, ${counted('t.revision')} AS revision, t.created_at, t.lost_at,
      ${PIN_EXAMPLES} AS examples`,
    from: 'judge_pins AS t',
    where: 't.judge_id = @group',
    until: 't.created_at <= @asOf',
    keys: ['t.seq'],
    json: ['examples'],
  },
  experiment_judges: {
    ...plain,
    by: 'experiment',
    select: '@group AS experiment_id, p.judge_id, p.judge_version, t.asked_at',
    from: 'experiment_judges AS t JOIN judge_pins AS p ON p.seq = t.pin',
    where: OF_EXPERIMENT,
    until: 't.asked_at <= @asOf AND p.created_at <= @asOf',
    keys: ['t.seq'],
  },
  evaluations: {
    by: 'judge',
    select: `t.id, t.judge_id, t.span_id, t.trace_id, t.evaluation_result, t.evaluation_reason, t.confidence_score, t.score,
      t.score_min, t.score_max, t.pass_threshold, t.criteria_scores, t.evaluation_type, t.model_used,
      t.duration_ms AS evaluation_duration_ms, t.judge_version, t.origin, t.prompt_version_id, t.created_at,
      t.subject_id, t.subject_upto AS subject_arrived_at, ${JUDGED_TRACES} AS trace_ids`,
    from: 'evaluations AS t INDEXED BY evaluations_by_judge',
    where: 't.judge_id = @group AND t.created_at <= @asOf',
    keys: ['t.created_at', 't.seq'],
    json: ['criteria_scores', 'trace_ids'],
    flags: ['evaluation_result'],
  },
  feedback: {
    ...GIVEN,
    by: 'prompt',
    select: `t.id, t.prompt_id, t.completion_id, t.judge_id, ${GIVEN_FIELDS}`,
    from: 'feedback AS t INDEXED BY feedback_of_prompt',
    where: 't.prompt_id = @group AND t.created_at <= @asOf',
  },
  span_feedback: {
    ...GIVEN,
    by: 'project',
    select: `t.id, t.completion_id, ${GIVEN_FIELDS}`,
    from: 'feedback AS t INDEXED BY feedback_of_no_prompt',
    where: 't.project_id = @group AND t.prompt_id IS NULL AND t.created_at <= @asOf',
  },
  // One that was given anew since belongs to feedback that was there: when it was given says nothing.
  corrections: {
    by: 'judge',
    select: `t.feedback_id, e.id AS evaluation_id, ${counted('t.revision')} AS revision, ${SAID}, t.given_at`,
    from: `corrections AS t JOIN feedback AS f ON f.id = t.feedback_id
      LEFT JOIN evaluations AS e ON e.seq = t.evaluation_seq`,
    where: 't.judge_id = @group',
    until: 'f.created_at <= @asOf AND ifnull(e.created_at, 0) <= @asOf',
    keys: ['t.revision', 't.rowid'],
    json: ['criteria_feedback'],
    flags: ['thumbs_up'],
  },
  comments: {
    ...plain,
    by: 'project',
    select: `t.id, t.trace_id, t.span_id, t.text, t.created_at, t.edited_at, ${person('t.user_id')} AS created_by`,
    from: 'comments AS t INDEXED BY comments_in_order',
    where: 't.project_id = @group AND t.created_at <= @asOf',
    keys: ['t.created_at', 't.id'],
    json: ['created_by'],
  },
};

/** Finds the groups of a project one after the other: the first at or behind a position, or behind it. */
export const GROUPS: Readonly<Record<Exclude<GroupedBy, 'project'>, (past: '>' | '>=') => string>> = {
  prompt: (past) =>
    `SELECT id, slug AS position FROM prompts WHERE project_id = ? AND slug ${past} ? ORDER BY slug LIMIT 1`,
  dataset: (past) =>
    `SELECT id, name AS position FROM datasets WHERE project_id = ? AND deleted_at IS NULL AND name ${past} ? ORDER BY name LIMIT 1`,
  experiment: (past) =>
    `SELECT id, id AS position FROM experiments INDEXED BY experiments_by_id
     WHERE project_id = ? AND deleted_at IS NULL AND id ${past} ? ORDER BY id LIMIT 1`,
  judge: (past) => `SELECT id, id AS position FROM judges WHERE project_id = ? AND id ${past} ? ORDER BY id LIMIT 1`,
};
