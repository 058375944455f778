import type { OptimizationService } from '../../../../domain/learning/optimization/optimization-service.js';
import { defineRoute, type Route } from '../../route.js';
import { toOptimizationRead } from './presenters.js';
import { JobParams, OptimizationRead, TAG } from './schema.js';

export function getOptimizationRoute(optimizations: Pick<OptimizationService, 'get'>): Route {
  return defineRoute({
    method: 'GET',
    path: '/projects/:project_id/prompts/:prompt_slug/optimizations/:job_id',
    operationId: 'getOptimization',
    summary: 'Get an optimization',
    description:
      'Returns state and progress of the optimization and, once it is done, each candidate compared with the ' +
      'current version, best first.',
    tag: TAG,
    access: 'key',
    params: JobParams,
    responses: { 200: { description: 'The optimization.', schema: OptimizationRead } },
    errors: ['not_found', 'unavailable'],
    handle: ({ params: { project_id, prompt_slug, job_id } }) => ({
      status: 200,
      body: toOptimizationRead(optimizations.get(project_id, prompt_slug, job_id)),
    }),
  });
}
