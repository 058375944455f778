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
      'Queues a job: from one half of the feedback on completions of the prompt (expected outputs, reasons) a model writes ' +
      'candidates, which keep the placeholders of the base version: `base_version`, else the one that the tag `production` ' +
      'points at, else the latest. Each of them and the base version are tried on ' +
      'the other half: the completions are made again, and the judge evaluates the new outputs, told what people ' +
      'expected. Without a judge, the model says of each output whether it says what the expected output says, which needs ' +
      'at least three expected outputs in that half. A candidate is no version before it is promoted. To which half a completion belongs is a hash of its id. ' +
      '`optimizations:readiness` says beforehand whether there is enough feedback. The calls are stored as spans tagged `spanhouse.optimization`. The job goes on after a restart; calls that ' +
      'were answered are not repeated.',
    tag: TAG,
    access: 'key',
    params: PromptParams,
    body: jsonBody(OptimizationInputBody),
    responses: { 202: { description: 'The optimisation.', schema: OptimizationRead } },
    errors: ['not_found', 'conflict', 'unavailable'],
    async handle({ principal, params: { project_id, prompt_slug }, body }) {
      const made = toOptimizationRead(await optimizations.create(principal, prompt_slug, body));
      const location = `/projects/${project_id}/prompts/${encodeURIComponent(prompt_slug)}/optimizations/${made.id}`;
      return { status: 202, headers: { Location: location }, body: made };
    },
  });
}
