import { Type } from '@sinclair/typebox';
import type { PromptService } from '../../../../domain/prompt/prompt-service.js';
import { defineRoute, type Route } from '../../route.js';
import { pageOfThousand } from '../parameters.js';
import { toMoveRead } from './presenters.js';
import { TAG, TagMoveRead, TagParams } from './schema.js';

export function listTagHistoryRoute(prompts: Pick<PromptService, 'tagHistory'>): Route {
  return defineRoute({
    method: 'GET',
    path: '/projects/:project_id/prompts/:prompt_slug/tags/:tag/history',
    operationId: 'listPromptTagHistory',
    summary: 'List the history of a tag',
    description:
      'Returns every pin of the tag, newest first: version, time, user. A removal of the tag has null as the ' +
      'version. For `latest`, returns every new version.',
    tag: TAG,
    access: 'key',
    params: TagParams,
    query: pageOfThousand,
    responses: {
      200: { description: 'The moves.', schema: Type.Array(TagMoveRead, { description: 'The moves of the tag.' }) },
    },
    errors: ['not_found', 'unavailable'],
    handle: ({ params: { project_id, prompt_slug, tag }, query }) => ({
      status: 200,
      body: prompts.tagHistory(project_id, prompt_slug, tag, query).map(toMoveRead),
    }),
  });
}
