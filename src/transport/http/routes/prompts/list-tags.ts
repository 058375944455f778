import type { PromptService } from '../../../../domain/prompt/prompt-service.js';
import { defineRoute, listOf, type Route } from '../../route.js';
import { ProjectPromptParams, TAG, TagEntryRead } from './schema.js';

export function listTagsRoute(prompts: Pick<PromptService, 'listTags'>): Route {
  return defineRoute({
    method: 'GET',
    path: '/projects/:project_id/prompts/:prompt_slug/tags',
    operationId: 'listPromptTags',
    summary: 'List the tags of a prompt',
    description: 'Returns the version that each tag points to: `latest` first, then sorted by name.',
    tag: TAG,
    access: 'key',
    params: ProjectPromptParams,
    responses: {
      200: listOf(TagEntryRead, 'The tags.'),
    },
    errors: ['not_found', 'unavailable'],
    handle: ({ params: { project_id, prompt_slug } }) => ({
      status: 200,
      body: prompts.listTags(project_id, prompt_slug),
    }),
  });
}
