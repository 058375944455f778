import type { OptimizationService } from '../../../../domain/learning/optimization/optimization-service.js';
import { defineRoute, type Route } from '../../route.js';
import { OptimizationReadinessRead, PromptParams, readinessQuery, TAG } from './schema.js';

export function getReadinessRoute(optimizations: Pick<OptimizationService, 'readiness'>): Route {
  return defineRoute({
    method: 'GET',
    path: '/projects/:project_id/prompts/:prompt_slug/optimizations:readiness',
    operationId: 'getOptimizationReadiness',
    summary: 'Check whether a prompt can be optimized',
    description:
      'Returns which version would be improved, and why; how many completions with feedback each half needs and ' +
      'has; and what to do next. Queues nothing. If there is much feedback, it considers the newest thousand ' +
      'records, as an optimization does.',
    tag: TAG,
    access: 'key',
    params: PromptParams,
    query: readinessQuery,
    responses: { 200: { description: 'Whether the optimization can run.', schema: OptimizationReadinessRead } },
    errors: ['not_found', 'conflict', 'unavailable'],
    bulk: true,
    handle: async ({ params: { project_id, prompt_slug }, query }) => ({
      status: 200,
      body: await optimizations.readiness(project_id, prompt_slug, query),
    }),
  });
}
