import { Type } from '@sinclair/typebox';
import type { PromptService } from '../../../../domain/prompt/prompt-service.js';
import { ContentHash } from '../../../../domain/prompt/schema.js';
import { defineRoute, type Route } from '../../route.js';
import { toVersionRead } from './presenters.js';
import { PromptVersionRead, TAG, TaskParams } from './schema.js';

export function getVersionByHashRoute(prompts: Pick<PromptService, 'find'>): Route {
  return defineRoute({
    method: 'GET',
    path: '/v1/tasks/:task_name/prompt/versions/by-hash/:content_hash',
    operationId: 'getPromptVersionByHash',
    summary: 'Get a version by the hash of its content',
    description: 'Returns the version of the prompt whose content has this SHA-256.',
    tag: TAG,
    access: 'key',
    params: Type.Object({ ...TaskParams.properties, content_hash: ContentHash }),
    responses: { 200: { description: 'The version.', schema: PromptVersionRead } },
    errors: ['not_found', 'unavailable'],
    handle: ({ principal, params }) => ({
      status: 200,
      body: toVersionRead(
        prompts.find(principal.project_id, params.task_name, { by: 'hash', hash: params.content_hash.toLowerCase() }),
      ),
    }),
  });
}
