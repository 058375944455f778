import { Type } from '@sinclair/typebox';
import { AGREEMENTS, EVALUATION_SORTS } from '../evaluation-store.js';
import { MAX_OF_EXPERIMENT } from '../result-evaluations.js';
import { RunStateName } from '../run-schema.js';
import { line, oneOf, uuid } from '../../../engine/schema/parts.js';
import { page } from '../../../http/page.js';
import { queryOf } from '../../../http/query.js';
import { checkTimeRange, timeRange } from '../../../http/time-range.js';
import { judge_id, project_id } from '../../../http/parameters.js';

export { ProjectParams, JudgeParams } from '../../../http/parameters.js';

/** How the documentation groups these routes. */
export const TAG = 'Judges';

const span_id = uuid('Id of the span.');

export const SpanParams = Type.Object({ project_id, span_id });
export const JudgeSpanParams = Type.Object({ project_id, judge_id, span_id });

export const judgePage = page({ maxLimit: 500, defaultLimit: 100 });

export const RunListQuery = Type.Object({ state: Type.Optional(RunStateName), ...judgePage });

const EvaluationListQuery = Type.Object({
  ...judgePage,
  ...timeRange('evaluations stored'),
  evaluation_result: Type.Optional(
    Type.Boolean({ description: 'true: only evaluations of spans that passed; false: only of spans that failed.' }),
  ),
  feedback_state: Type.Optional(
    oneOf(
      ['with_user_feedback', 'without_user_feedback'],
      'Only evaluations of spans with, or without, feedback on this judge.',
    ),
  ),
  agreement: Type.Optional(
    oneOf(
      AGREEMENTS,
      'disagreed: only evaluations that someone marked as wrong; agreed: only those that people marked as right; ' +
        'unreviewed: only those without feedback on them or on a later evaluation of the span by this judge.',
    ),
  ),
  judge_version: Type.Optional(
    line(
      200,
      'Only evaluations by this version of the judge: an exact one, as `judge_version` of evaluations names it; one of ' +
        'the calibration report with `versions=steps` (`v1`, `v2`, …); or `external`: those that ran elsewhere and name no version.',
    ),
  ),
  experiment_id: Type.Optional(
    uuid(
      `Only evaluations of results of this experiment. \`offset\` and \`limit\` may reach its first ${MAX_OF_EXPERIMENT} matches.`,
    ),
  ),
  sort_by: oneOf(
    EVALUATION_SORTS,
    'created_at: storage time; confidence: `confidence_score`, with missing scores last in both orders.',
    'created_at',
  ),
  sort_order: oneOf(
    ['asc', 'desc'],
    'asc: storage order, so that paging finds new evaluations at the end and none twice, or lowest confidence ' +
      'first; desc: reverse order.',
    'asc',
  ),
});

export const evaluationQuery = queryOf(EvaluationListQuery, {
  check: ({ experiment_id, offset = 0, limit = 0, ...range }) => [
    ...checkTimeRange(range),
    ...(experiment_id !== undefined && offset + limit > MAX_OF_EXPERIMENT
      ? [
          {
            pointer: '?offset',
            detail: `must be at most ${MAX_OF_EXPERIMENT - limit} with experiment_id and this limit`,
          },
        ]
      : []),
  ],
  to: ({ start_date, end_date, evaluation_result, feedback_state, agreement, judge_version, ...rest }) => ({
    filter: {
      start: start_date ?? null,
      end: end_date ?? null,
      result: evaluation_result ?? null,
      withFeedback: feedback_state === undefined ? null : feedback_state === 'with_user_feedback',
      agreement: agreement ?? null,
    },
    version: judge_version ?? null,
    experimentId: rest.experiment_id ?? null,
    window: { limit: rest.limit, offset: rest.offset },
    order: { by: rest.sort_by, descending: rest.sort_order === 'desc' },
  }),
});
