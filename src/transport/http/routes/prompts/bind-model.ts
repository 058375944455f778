import type { PromptService } from '../../../../domain/prompt/prompt-service.js';
import { BindInput } from '../../../../domain/prompt/schema.js';
import { defineRoute, jsonBody, type Route } from '../../route.js';
import { toVersionRead } from './presenters.js';
import { PromptVersionRead, TAG, VersionParams } from './schema.js';

export function bindModelRoute(prompts: Pick<PromptService, 'bindModel'>): Route {
  return defineRoute({
    method: 'PATCH',
    path: '/projects/:project_id/prompts/:prompt_slug/versions/:version',
    operationId: 'bindPromptVersionModel',
    summary: 'Bind a model to a version',
    description: 'Binds a model to the version; null unbinds it. Nothing else of a version ever changes.',
    tag: TAG,
    access: 'key',
    params: VersionParams,
    body: jsonBody(BindInput, { lenient: true }),
    responses: { 200: { description: 'The version.', schema: PromptVersionRead } },
    errors: ['not_found', 'unavailable'],
    handle: ({ params: { project_id, prompt_slug, version }, body }) => ({
      status: 200,
      body: toVersionRead(prompts.bindModel(project_id, prompt_slug, version, body.model_id)),
    }),
  });
}
