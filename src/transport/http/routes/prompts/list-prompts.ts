import type { PromptService } from '../../../../domain/prompt/prompt-service.js';
import { defineRoute, listOf, type Route } from '../../route.js';
import { pageOfThousand } from '../parameters.js';
import { toSummaryRead } from './presenters.js';
import { ProjectParams, PromptSummaryRead, TAG } from './schema.js';

export function listPromptsRoute(prompts: Pick<PromptService, 'list'>): Route {
  return defineRoute({
    method: 'GET',
    path: '/projects/:project_id/prompts',
    operationId: 'listPrompts',
    summary: 'List the prompts of the project',
    description: 'Slug, number of versions, newest version and tags of each prompt, sorted by slug.',
    tag: TAG,
    access: 'key',
    params: ProjectParams,
    query: pageOfThousand,
    responses: {
      200: listOf(PromptSummaryRead, 'The prompts.'),
    },
    errors: ['unavailable'],
    handle: ({ params, query }) => ({ status: 200, body: prompts.list(params.project_id, query).map(toSummaryRead) }),
  });
}
