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
    summary: 'Make sure that a version exists',
    description:
      'Answers the version with this content. When there is none, it is made as the newest; the first version makes the prompt. ' +
      'An existing version is answered unchanged, its model and metadata too.',
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
