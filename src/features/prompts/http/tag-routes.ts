import { Type } from '@sinclair/typebox';
import type { PromptTags } from '../prompt-tags.js';
import { PinInput } from '../schema.js';
import { defineRoute, jsonBody, listOf } from '../../../http/route.js';
import { pageOfThousand } from '../../../http/parameters.js';
import { toMoveRead } from './presenters.js';
import { ProjectPromptParams, TAG, TagEntryRead, TagMoveRead, TagParams } from './schema.js';

/** Tags of prompts, and where they pointed. */
export function tagRoutes(tags: PromptTags) {
  return [listTagsRoute(tags), pinTagRoute(tags), deleteTagRoute(tags), listTagHistoryRoute(tags)];
}

function listTagsRoute(tags: Pick<PromptTags, 'list'>) {
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
      body: tags.list(project_id, prompt_slug),
    }),
  });
}

function pinTagRoute(tags: Pick<PromptTags, 'pin'>) {
  return defineRoute({
    method: 'POST',
    path: '/projects/:project_id/prompts/:prompt_slug/tags/:tag:pin',
    operationId: 'pinPromptTag',
    summary: 'Pin a tag to a version',
    description:
      'From now on, the tag points to this version. The history of the tag keeps every pin. `latest` automatically ' +
      'follows the newest version and cannot be pinned (409). A prompt has at most 1,000 tags, including removed ' +
      'ones; pinning a further one is refused (409).',
    tag: TAG,
    access: 'key',
    params: TagParams,
    body: jsonBody(PinInput, { lenient: true }),
    responses: { 200: { description: 'The tag and the version that it points to.', schema: TagEntryRead } },
    errors: ['not_found', 'conflict', 'unavailable'],
    handle: ({ principal, params: { prompt_slug, tag }, body: { version } }) => ({
      status: 200,
      body: tags.pin(principal, prompt_slug, { tag, version }),
    }),
  });
}

function deleteTagRoute(tags: Pick<PromptTags, 'remove'>) {
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
      tags.remove(principal, prompt_slug, tag);
      return { status: 204 };
    },
  });
}

function listTagHistoryRoute(tags: Pick<PromptTags, 'history'>) {
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
      body: tags.history(project_id, prompt_slug, tag, query).map(toMoveRead),
    }),
  });
}
