import type { OptimizationService } from '../../../../domain/learning/optimization/optimization-service.js';
import { defineRoute, jsonBody, type Route } from '../../route.js';
import { toVersionRead } from '../prompts/presenters.js';
import { PromptVersionRead } from '../prompts/schema.js';
import { JobParams, PromoteInput, TAG } from './schema.js';

export function promoteCandidateRoute(optimizations: Pick<OptimizationService, 'promote'>): Route {
  return defineRoute({
    method: 'POST',
    path: '/projects/:project_id/prompts/:prompt_slug/optimizations/:job_id:promote',
    operationId: 'promoteCandidate',
    summary: 'Promote a candidate to a version',
    description:
      'The candidate becomes the latest version of the prompt, with the model of the version that it improves; its ' +
      'metadata records its origin. Tags stay where they are. Repeating the call returns the same version. Returns ' +
      '409 while the optimization is not done.',
    tag: TAG,
    access: 'key',
    params: JobParams,
    body: jsonBody(PromoteInput),
    responses: { 200: { description: 'The version.', schema: PromptVersionRead } },
    errors: ['not_found', 'conflict', 'unavailable'],
    handle: ({ principal, params: { prompt_slug, job_id }, body: { candidate_id } }) => ({
      status: 200,
      body: toVersionRead(optimizations.promote(principal, prompt_slug, job_id, candidate_id)),
    }),
  });
}
