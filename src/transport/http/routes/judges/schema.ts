import { Type } from '@sinclair/typebox';
import { RunStateName } from '../../../../domain/judge/run-schema.js';
import { oneOf, uuid } from '../../../../domain/schema/parts.js';
import { page } from '../../page.js';
import { queryOf } from '../../query.js';
import { checkTimeRange, timeRange } from '../../time-range.js';
import { judge_id, project_id } from '../parameters.js';

export { ProjectParams, JudgeParams } from '../parameters.js';

/** How the documentation groups these routes. */
export const TAG = 'Judges';

const span_id = uuid('Id of the span.');

export const SpanParams = Type.Object({ project_id, span_id });
export const JudgeSpanParams = Type.Object({ project_id, judge_id, span_id });

const judgePage = page({ maxLimit: 500, defaultLimit: 100 });

export const JudgeListQuery = Type.Object(judgePage);
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
      "Only evaluations of spans with, or without, somebody's feedback on this judge.",
    ),
  ),
  sort_order: oneOf(
    ['asc', 'desc'],
    'asc: in the order of storing, so that paging sees new evaluations at the end and none twice; desc: newest first.',
    'asc',
  ),
});

export const evaluationQuery = queryOf(EvaluationListQuery, {
  check: checkTimeRange,
  to: ({ start_date = null, end_date = null, evaluation_result = null, feedback_state, sort_order, ...window }) => ({
    filter: {
      start: start_date,
      end: end_date,
      result: evaluation_result,
      withFeedback: feedback_state === undefined ? null : feedback_state === 'with_user_feedback',
    },
    window,
    descending: sort_order === 'desc',
  }),
});
