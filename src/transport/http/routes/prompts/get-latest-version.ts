import type { PromptService } from '../../../../domain/prompt/prompt-service.js';
import { defineRoute, type Route } from '../../route.js';
import type { VersionJson } from './presenters.js';
import { PromptVersionRead, selectorOf, TAG, TaskParams } from './schema.js';

export function getLatestVersionRoute(prompts: Pick<PromptService, 'fetch'>, versionJson: VersionJson): Route {
  return defineRoute({
    method: 'GET',
    path: '/v1/tasks/:task_name/prompt/latest',
    operationId: 'getLatestPromptVersion',
    summary: 'Get the newest version',
    description: 'Returns the newest version of the prompt.',
    tag: TAG,
    access: 'key',
    params: TaskParams,
    responses: { 200: { description: 'The version.', schema: PromptVersionRead } },
    errors: ['not_found', 'unavailable'],
    handle: ({ principal, params }) => ({
      status: 200,
      json: versionJson(prompts.fetch(principal.project_id, params.task_name, selectorOf(undefined, 'latest'))),
    }),
  });
}
