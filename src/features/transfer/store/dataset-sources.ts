import type { MetadataPart } from '../parts.js';
import { person, plain, type Source } from './source.js';

/** SQL for the number of the newest version of a dataset then. */
const LAST_VERSION =
  'ifnull((SELECT max(number) FROM dataset_versions WHERE dataset_id = @group AND created_at <= @asOf), 0)';

/** Where the records of datasets are read. */
export const datasetSources = {
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
} satisfies Partial<Record<MetadataPart, Source>>;
