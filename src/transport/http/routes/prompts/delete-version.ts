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
      'Deletes a version that nothing needs; its number is never given again. 409 names what needs it: a pinned tag, a judge ' +
      'that runs with it, an optimisation of it that has not ended. The newest version can go: `latest` is then the one before. ' +
      'With the only version the prompt goes; that is 409 while it has feedback, feedback links or optimisations, or judges ' +
      'filter by it. Completions that name the version by its id stay, but are known as completions of the prompt only when they ' +
      'name the prompt as well. Evaluations made with the version still name it.',
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
