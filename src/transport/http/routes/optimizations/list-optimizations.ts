import type { OptimizationService } from '../../../../domain/learning/optimization/optimization-service.js';
import { defineRoute, listOf, type Route } from '../../route.js';
import { toSummaryRead } from './presenters.js';
import { OptimizationSummaryRead, PromptParams, TAG } from './schema.js';

export function listOptimizationsRoute(optimizations: Pick<OptimizationService, 'list'>): Route {
  return defineRoute({
    method: 'GET',
    path: '/projects/:project_id/prompts/:prompt_slug/optimizations',
    operationId: 'listOptimizations',
    summary: 'List the optimizations of a prompt',
    description: 'Returns the newest hundred optimizations, newest first, without their candidates.',
    tag: TAG,
    access: 'key',
    params: PromptParams,
    responses: {
      200: listOf(OptimizationSummaryRead, 'The optimizations.'),
    },
    errors: ['not_found', 'unavailable'],
    handle: ({ params: { project_id, prompt_slug } }) => ({
      status: 200,
      body: optimizations.list(project_id, prompt_slug).map(toSummaryRead),
    }),
  });
}
