import { liveComparison } from '../../comparisons/store/comparison-store.js';
import type { MetadataPart } from '../parts.js';
import { person, plain, type Source } from './source.js';

const OF_EXPERIMENT = 't.experiment = (SELECT seq FROM experiments WHERE id = @group)';

/** Where the records of experiments are read. */
export const experimentSources = {
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
  experiment_judges: {
    ...plain,
    by: 'experiment',
    select: '@group AS experiment_id, p.judge_id, p.judge_version, t.asked_at',
    from: 'experiment_judges AS t JOIN judge_pins AS p ON p.seq = t.pin',
    where: OF_EXPERIMENT,
    until: 't.asked_at <= @asOf AND p.created_at <= @asOf',
    keys: ['t.seq'],
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
} satisfies Partial<Record<MetadataPart, Source>>;
