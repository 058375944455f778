import type { EvaluationService } from '../../../../domain/judge/evaluation-service.js';
import { SpanEvaluationsRead } from '../../../../domain/judge/schema.js';
import { defineRoute, type Route } from '../../route.js';
import { spanEvaluationsRead } from './presenters.js';
import { SpanParams, TAG } from './schema.js';

export function listSpanEvaluationsRoute(evaluations: Pick<EvaluationService, 'ofSpan'>): Route {
  return defineRoute({
    method: 'GET',
    path: '/projects/:project_id/spans/:span_id/evaluations',
    operationId: 'listSpanEvaluations',
    summary: 'List the evaluations of a span',
    description: 'Evaluations of the span by every judge, also by deleted ones, newest first.',
    tag: TAG,
    access: 'key',
    params: SpanParams,
    responses: { 200: { description: 'The evaluations.', schema: SpanEvaluationsRead } },
    errors: ['not_found', 'unavailable'],
    handle: async ({ params: { project_id, span_id } }) => ({
      status: 200,
      body: spanEvaluationsRead(span_id, await evaluations.ofSpan(project_id, span_id)),
    }),
  });
}
