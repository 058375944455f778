import type { PromptService } from '../../../../domain/prompt/prompt-service.js';
import { defineRoute, type Route } from '../../route.js';
import { TAG, VersionParams } from './schema.js';

export function deleteVersionRoute(prompts: Pick<PromptService, 'deleteVersion'>): Route {
  return defineRoute({
    method: 'DELETE',
    path: '/projects/:project_id/prompts/:prompt_slug/versions/:version',
    operationId: 'deletePromptVersion',
    summary: 'Delete a version of a prompt',
    description:
      'Deletes a version that is not in use; its number is never reused. 409 names what uses it: a pinned tag, a ' +
      'judge that runs with it, or an optimization of it that has not ended. You can delete the newest version: ' +
      '`latest` then moves to the one before. Deleting the only version deletes the prompt; this gets 409 while the ' +
      'prompt has feedback, feedback links or optimizations, or judges filter by it. Completions that name the ' +
      'version by its id stay, but count as completions of the prompt only if they also name the prompt. ' +
      'Evaluations made with the version still name it.',
    tag: TAG,
    access: 'key',
    params: VersionParams,
    responses: { 204: { description: 'The version is deleted.' } },
    errors: ['not_found', 'conflict', 'unavailable'],
    handle({ params: { project_id, prompt_slug, version } }) {
      prompts.deleteVersion(project_id, prompt_slug, version);
      return { status: 204 };
    },
  });
}
