import type { PromptService } from '../../../../domain/prompt/prompt-service.js';
import { defineRoute, type Route } from '../../route.js';
import { TAG, TagParams } from './schema.js';

export function deleteTagRoute(prompts: Pick<PromptService, 'removeTag'>): Route {
  return defineRoute({
    method: 'DELETE',
    path: '/projects/:project_id/prompts/:prompt_slug/tags/:tag',
    operationId: 'deletePromptTag',
    summary: 'Remove a tag of a prompt',
    description:
      'From now on, the tag points to nothing and no longer protects a version from deletion. Its history stays, ' +
      'with the removal as an entry, and you can pin it again. Without `production`, judges and optimizations use ' +
      'the newest version. `latest` automatically follows the newest version and cannot be removed (409).',
    tag: TAG,
    access: 'key',
    params: TagParams,
    responses: { 204: { description: 'The tag is removed.' } },
    errors: ['not_found', 'conflict', 'unavailable'],
    handle({ principal, params: { prompt_slug, tag } }) {
      prompts.removeTag(principal, prompt_slug, tag);
      return { status: 204 };
    },
  });
}
