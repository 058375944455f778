import type { OptimizationService } from '../../../../domain/learning/optimization/optimization-service.js';
import { defineRoute, type Route } from '../../route.js';
import { toOptimizationRead } from './presenters.js';
import { JobParams, OptimizationRead, TAG } from './schema.js';

export function cancelOptimizationRoute(optimizations: Pick<OptimizationService, 'cancel'>): Route {
  return defineRoute({
    method: 'POST',
    path: '/projects/:project_id/prompts/:prompt_slug/optimizations/:job_id:cancel',
    operationId: 'cancelOptimization',
    summary: 'Cancel an optimization',
    description: 'Aborts running model calls. An optimization that has ended cannot be canceled (409).',
    tag: TAG,
    access: 'key',
    params: JobParams,
    responses: { 200: { description: 'The canceled optimization.', schema: OptimizationRead } },
    errors: ['not_found', 'conflict', 'unavailable'],
    handle: ({ params: { project_id, prompt_slug, job_id } }) => ({
      status: 200,
      body: toOptimizationRead(optimizations.cancel(project_id, prompt_slug, job_id)),
    }),
  });
}
