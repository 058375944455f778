import type { OptimizationService } from '../../../../domain/learning/optimization/optimization-service.js';
import { defineRoute, type Route } from '../../route.js';
import { OptimizationReadinessRead, PromptParams, readinessQuery, TAG } from './schema.js';

export function getReadinessRoute(optimizations: Pick<OptimizationService, 'readiness'>): Route {
  return defineRoute({
    method: 'GET',
    path: '/projects/:project_id/prompts/:prompt_slug/optimizations:readiness',
    operationId: 'getOptimizationReadiness',
    summary: 'Say whether a prompt can be improved from feedback',
    description:
      'Which version would be improved, and why that one; how many completions with feedback either half needs and has; and ' +
      'what to do next. Nothing is queued. Of much feedback, the newest thousand records are looked at, as an optimisation does.',
    tag: TAG,
    access: 'key',
    params: PromptParams,
    query: readinessQuery,
    responses: { 200: { description: 'Whether it can be run.', schema: OptimizationReadinessRead } },
    errors: ['not_found', 'conflict', 'unavailable'],
    bulk: true,
    handle: async ({ params: { project_id, prompt_slug }, query }) => ({
      status: 200,
      body: await optimizations.readiness(project_id, prompt_slug, query),
    }),
  });
}
