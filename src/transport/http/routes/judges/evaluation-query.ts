import type { Static } from '@sinclair/typebox';
import type { Issue } from '../../../../domain/errors.js';
import type { EvaluationFilter } from '../../../../domain/judge/evaluation-store.js';
import { invalid } from '../../../../domain/validation/validation.js';
import { queryOf, type QueryDefinition } from '../../query.js';
import { timeRange } from '../../time-range.js';
import { EvaluationListQuery } from './schema.js';

export interface EvaluationQuery {
  readonly filter: EvaluationFilter;
  readonly window: { readonly limit: number; readonly offset: number };
  readonly descending: boolean;
}

const parse = queryOf(EvaluationListQuery).parse;

/** The query of a list of evaluations; all bad parameters are named together. */
export const evaluationQuery: QueryDefinition<EvaluationQuery> = {
  schema: EvaluationListQuery,
  parse(search) {
    const issues: Issue[] = [];
    const { start, end } = timeRange(search, issues);
    const query = parsed(search, issues);
    return {
      filter: {
        start,
        end,
        result: query.evaluation_result ?? null,
        withFeedback: query.feedback_state === undefined ? null : query.feedback_state === 'with_user_feedback',
      },
      window: { limit: query.limit, offset: query.offset },
      descending: query.sort_order === 'desc',
    };
  },
};

function parsed(search: URLSearchParams, issues: readonly Issue[]): Static<typeof EvaluationListQuery> {
  try {
    const query = parse(search);
    if (issues.length === 0) return query;
  } catch (error) {
    if (issues.length === 0) throw error;
    const { issues: others = [] } = error as { issues?: readonly Issue[] };
    throw invalid([...others, ...issues]);
  }
  throw invalid(issues);
}
