import { SETTING_NAMES } from '../../judges/settings.js';
import { STORED_AS } from '../../judges/store/judge-rows.js';
import type { MetadataPart } from '../parts.js';
import { MAX_JUDGED_TRACES } from '../records.js';
import { counted, person, plain, type Source } from './source.js';

const JUDGED_TRACES = `iif(t.subject_id IS NULL, NULL, (SELECT json_group_array(trace_id) FROM (
  SELECT trace_id FROM judged_traces WHERE run_id = t.id ORDER BY trace_id LIMIT ${MAX_JUDGED_TRACES})))`;
const PIN_EXAMPLES = `(SELECT json_group_array(id) FROM (SELECT e.id FROM judge_pin_corrections AS c
  JOIN judge_pin_examples AS e ON e.seq = c.example WHERE c.pin = t.seq ORDER BY c.position))`;

/** Where the records of judges are read. */
export const judgeSources = {
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
} satisfies Partial<Record<MetadataPart, Source>>;
