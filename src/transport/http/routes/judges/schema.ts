import { Type } from '@sinclair/typebox';
import { RunStateName } from '../../../../domain/judge/run-schema.js';
import { uuid } from '../../../../domain/schema/parts.js';
import { judge_id, project_id } from '../parameters.js';

export { ProjectParams, JudgeParams } from '../parameters.js';

/** How the documentation groups these routes. */
export const TAG = 'Judges';

const span_id = uuid('Id of the span.');

export const SpanParams = Type.Object({ project_id, span_id });
export const JudgeSpanParams = Type.Object({ project_id, judge_id, span_id });

const limit = (maximum: number) =>
  Type.Integer({ minimum: 1, maximum, default: 100, description: 'How many to answer at most.' });
const offset = Type.Integer({
  minimum: 0,
  maximum: Number.MAX_SAFE_INTEGER,
  default: 0,
  description: 'How many to pass over first.',
});
const MAX_PAGE = 500;

export const JudgeListQuery = Type.Object({ limit: limit(MAX_PAGE), offset });
export const RunListQuery = Type.Object({ state: Type.Optional(RunStateName), limit: limit(MAX_PAGE), offset });

const bound = (description: string) => Type.String({ description });
const oneOf = <const T extends readonly string[]>(values: T, description: string, fallback?: T[number]) =>
  Type.Unsafe<T[number]>({
    type: 'string',
    enum: [...values],
    description,
    ...(fallback === undefined ? {} : { default: fallback }),
  });

export const EvaluationListQuery = Type.Object({
  limit: limit(MAX_PAGE),
  offset,
  start_date: Type.Optional(bound('Only those stored then or later: ISO 8601, or Unix seconds or milliseconds.')),
  end_date: Type.Optional(bound('Only those stored then or earlier; a date alone means its whole day.')),
  evaluation_result: Type.Optional(
    Type.Boolean({ description: 'true: only those that passed; false: only those that failed.' }),
  ),
  feedback_state: Type.Optional(
    oneOf(
      ['with_user_feedback', 'without_user_feedback'],
      "Only those whose span has, or has not, somebody's feedback on this judge.",
    ),
  ),
  sort_order: oneOf(
    ['asc', 'desc'],
    'asc: in the order of storing, so that paging sees what comes meanwhile at the end and nothing twice; desc: newest first.',
    'asc',
  ),
});
