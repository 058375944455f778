import { NO_VERSION } from '../../prompts/store/tag-pins.js';
import type { MetadataPart } from '../parts.js';
import { datasetSources } from './dataset-sources.js';
import { experimentSources } from './experiment-sources.js';
import { feedbackSources } from './feedback-sources.js';
import { judgeSources } from './judge-sources.js';
import { person, plain, type GroupedBy, type Source } from './source.js';

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
  comments: {
    ...plain,
    by: 'project',
    select: `t.id, t.trace_id, t.span_id, t.text, t.created_at, t.edited_at, ${person('t.user_id')} AS created_by`,
    from: 'comments AS t INDEXED BY comments_in_order',
    where: 't.project_id = @group AND t.created_at <= @asOf',
    keys: ['t.created_at', 't.id'],
    json: ['created_by'],
  },
  ...datasetSources,
  ...experimentSources,
  ...judgeSources,
  ...feedbackSources,
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
