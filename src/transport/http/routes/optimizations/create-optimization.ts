import type { OptimizationService } from '../../../../domain/learning/optimization/optimization-service.js';
import { OptimizationInputBody } from '../../../../domain/learning/optimization/schema.js';
import { defineRoute, jsonBody, type Route } from '../../route.js';
import { toOptimizationRead } from './presenters.js';
import { OptimizationRead, PromptParams, TAG } from './schema.js';

export function createOptimizationRoute(optimizations: Pick<OptimizationService, 'create'>): Route {
  return defineRoute({
    method: 'POST',
    path: '/projects/:project_id/prompts/:prompt_slug/optimizations',
    operationId: 'optimizePrompt',
    summary: 'Improve a prompt from feedback',
    description:
      'Queues a job. From one half of the feedback on completions of the prompt (expected outputs, reasons), a ' +
      'model writes candidates that keep the placeholders of the base version: `base_version`, else the version ' +
      'tagged `production`, else the latest. Each candidate and the base version are tried on the other half: the ' +
      'completions are repeated, and the judge evaluates the new outputs, knowing what people expected. Without a ' +
      'judge, the model decides whether each output says what the expected output says, which needs at least three ' +
      'expected outputs in that half. A candidate is not a version until you promote it. A hash of its id assigns ' +
      'each completion to one half. `optimizations:readiness` says beforehand whether there is enough feedback. The ' +
      'calls are stored as spans tagged `spanhouse.optimization`. The job resumes after a restart and does not ' +
      'repeat calls that were answered.',
    tag: TAG,
    access: 'key',
    params: PromptParams,
    body: jsonBody(OptimizationInputBody),
    responses: { 202: { description: 'The optimization.', schema: OptimizationRead } },
    errors: ['not_found', 'conflict', 'unavailable'],
    async handle({ principal, params: { project_id, prompt_slug }, body }) {
      const made = toOptimizationRead(await optimizations.create(principal, prompt_slug, body));
      const location = `/projects/${project_id}/prompts/${encodeURIComponent(prompt_slug)}/optimizations/${made.id}`;
      return { status: 202, headers: { Location: location }, body: made };
    },
  });
}
