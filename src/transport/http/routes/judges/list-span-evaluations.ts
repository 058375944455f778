import type { EvaluationLists } from '../../../../domain/judge/evaluation-lists.js';
import { SpanEvaluationsRead } from '../../../../domain/judge/schema.js';
import { defineRoute, type Route } from '../../route.js';
import { spanEvaluationsAnswer } from './page-json.js';
import { SpanParams, TAG } from './schema.js';

export function listSpanEvaluationsRoute(evaluations: Pick<EvaluationLists, 'ofSpan'>): Route {
  return defineRoute({
    method: 'GET',
    path: '/projects/:project_id/spans/:span_id/evaluations',
    operationId: 'listSpanEvaluations',
    summary: 'List the evaluations of a span',
    description: 'Returns evaluations of the span by every judge, including deleted ones, newest first.',
    tag: TAG,
    access: 'key',
    params: SpanParams,
    responses: { 200: { description: 'The evaluations.', schema: SpanEvaluationsRead } },
    errors: ['not_found', 'unavailable'],
    bulk: true,
    handle: async ({ params: { project_id, span_id } }) =>
      spanEvaluationsAnswer(span_id, await evaluations.ofSpan(project_id, span_id)),
  });
}
