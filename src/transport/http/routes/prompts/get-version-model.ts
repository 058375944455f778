import { Type } from '@sinclair/typebox';
import type { PromptService } from '../../../../domain/prompt/prompt-service.js';
import { uuid } from '../../../../domain/schema/parts.js';
import { defineRoute, type Route } from '../../route.js';
import { toModelRead } from './presenters.js';
import { ModelBindingRead, TAG } from './schema.js';

export function getVersionModelRoute(prompts: Pick<PromptService, 'model'>): Route {
  return defineRoute({
    method: 'GET',
    path: '/v1/prompt-versions/:version_id/model',
    operationId: 'getPromptVersionModel',
    summary: 'Get the model of a version',
    description:
      'Returns the bound model and its provider: the part before the `/` if that is a known provider, else the ' +
      'provider known for a model of this name, else null.',
    tag: TAG,
    access: 'key',
    params: Type.Object({ version_id: uuid('Id of the version.') }),
    responses: { 200: { description: 'The model.', schema: ModelBindingRead } },
    errors: ['not_found', 'unavailable'],
    handle: ({ principal, params }) => ({
      status: 200,
      body: toModelRead(prompts.model(principal.project_id, params.version_id)),
    }),
  });
}
