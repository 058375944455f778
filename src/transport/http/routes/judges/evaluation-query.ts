import type { Static } from '@sinclair/typebox';
import type { Issue } from '../../../../domain/errors.js';
import type { EvaluationFilter } from '../../../../domain/judge/evaluation-store.js';
import { parseTimestamp, type Micros } from '../../../../domain/time/timestamp.js';
import { invalid } from '../../../../domain/validation/validation.js';
import { queryOf, type QueryDefinition } from '../../query.js';
import { EvaluationListQuery } from './schema.js';

export interface EvaluationQuery {
  readonly filter: EvaluationFilter;
  readonly window: { readonly limit: number; readonly offset: number };
  readonly descending: boolean;
}

const DAY: Micros = 86_400e6;
const parse = queryOf(EvaluationListQuery).parse;

/** The query of a list of evaluations; all bad parameters are named together. */
export const evaluationQuery: QueryDefinition<EvaluationQuery> = {
  schema: EvaluationListQuery,
  parse(search) {
    const issues: Issue[] = [];
    const start = bound(search, 'start_date', issues);
    const end = bound(search, 'end_date', issues);
    if (start !== null && end !== null && end < start)
      issues.push({ pointer: '?end_date', detail: 'must not be before start_date' });
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

/** A `+` of an offset that nobody encoded arrives as a blank. A date alone is its first moment, or its last as an end. */
function bound(search: URLSearchParams, name: 'start_date' | 'end_date', issues: Issue[]): Micros | null {
  const [text] = search.getAll(name);
  if (text === undefined) return null;
  const repaired = text.replace(/ (\d\d:?\d\d)$/, '+$1');
  const at = /^\d+(\.\d+)?$/.test(text) && text.length > 4 ? parseTimestamp(Number(text)) : parseTimestamp(repaired);
  if (at === undefined) issues.push({ pointer: `?${name}`, detail: 'must be an ISO 8601 time, or a Unix time' });
  if (at === undefined) return null;
  return name === 'end_date' && /^\d{4}-\d\d-\d\d$/.test(text) ? at + DAY - 1 : at;
}
