import type { PromptService } from '../../../../domain/prompt/prompt-service.js';
import { EnsureInput } from '../../../../domain/prompt/schema.js';
import { defineRoute, uncheckedJsonBody, type Route } from '../../route.js';
import { toVersionRead } from './presenters.js';
import { PromptVersionRead, TAG, TaskParams } from './schema.js';

export function ensureVersionRoute(prompts: Pick<PromptService, 'ensure'>): Route {
  return defineRoute({
    method: 'POST',
    path: '/v1/tasks/:task_name/prompt/versions/ensure',
    operationId: 'ensurePromptVersion',
    summary: 'Ensure a version',
    description:
      'Returns the version with this content. If there is none, it is created as the newest; the first version ' +
      'creates the prompt. An existing version is returned unchanged, including its model and metadata.',
    tag: TAG,
    access: 'key',
    params: TaskParams,
    body: uncheckedJsonBody(EnsureInput, { lenient: true }),
    responses: { 200: { description: 'The version.', schema: PromptVersionRead } },
    errors: ['conflict', 'unavailable'],
    handle: ({ principal, params, body }) => ({
      status: 200,
      body: toVersionRead(prompts.ensure(principal, params.task_name, body)),
    }),
  });
}
