import { formatTimestamp } from '../../../engine/timestamp.js';
import { pageOfThousand } from '../../../http/parameters.js';
import { defineRoute, jsonBody, listOf } from '../../../http/route.js';
import type { DatasetTags } from '../dataset-tags.js';
import { DatasetPin, DatasetTagMoveRead, DatasetTagRead } from '../schema.js';
import { DatasetParams, DatasetTagParams, TAG } from './parameters.js';

/** Tags of datasets, and where they pointed. */
export function tagRoutes(tags: DatasetTags) {
  return [listTagsRoute(tags), pinTagRoute(tags), listTagHistoryRoute(tags), deleteTagRoute(tags)];
}

function listTagsRoute(tags: Pick<DatasetTags, 'list'>) {
  return defineRoute({
    method: 'GET',
    path: '/v1/datasets/:name+/tags',
    operationId: 'listDatasetTags',
    summary: 'List the tags of a dataset',
    description: 'Returns the version that each tag points to: `latest` first, then sorted by name.',
    tag: TAG,
    access: 'key',
    params: DatasetParams,
    responses: { 200: listOf(DatasetTagRead, 'The tags.') },
    errors: ['not_found', 'unavailable'],
    handle: ({ principal, params }) => ({ status: 200, body: tags.list(principal.project_id, params.name) }),
  });
}

function pinTagRoute(tags: Pick<DatasetTags, 'pin'>) {
  return defineRoute({
    method: 'POST',
    path: '/v1/datasets/:name+/tags/:tag:pin',
    operationId: 'pinDatasetTag',
    summary: 'Pin a tag to a version of a dataset',
    description:
      'From now on, the tag points to this version. The history of the tag keeps every move. `latest` follows the newest version and ' +
      'cannot be pinned (409).',
    tag: TAG,
    access: 'key',
    params: DatasetTagParams,
    body: jsonBody(DatasetPin),
    responses: { 200: { description: 'The tag and the version that it points to.', schema: DatasetTagRead } },
    errors: ['not_found', 'conflict', 'unavailable'],
    handle: ({ principal, params: { name, tag }, body: { version_number } }) => ({
      status: 200,
      body: tags.pin(principal, name, { tag, version_number }),
    }),
  });
}

function deleteTagRoute(tags: Pick<DatasetTags, 'remove'>) {
  return defineRoute({
    method: 'DELETE',
    path: '/v1/datasets/:name+/tags/:tag',
    operationId: 'deleteDatasetTag',
    summary: 'Remove a tag of a dataset',
    description: 'From now on, the tag points to nothing. Its history stays, with the removal as an entry.',
    tag: TAG,
    access: 'key',
    params: DatasetTagParams,
    responses: { 204: { description: 'The tag is removed.' } },
    errors: ['not_found', 'conflict', 'unavailable'],
    handle({ principal, params: { name, tag } }) {
      tags.remove(principal, name, tag);
      return { status: 204 };
    },
  });
}

function listTagHistoryRoute(tags: Pick<DatasetTags, 'history'>) {
  return defineRoute({
    method: 'GET',
    path: '/v1/datasets/:name+/tags/:tag/history',
    operationId: 'listDatasetTagHistory',
    summary: 'List the history of a tag of a dataset',
    description: 'Returns every move of the tag, newest first. A removal has null as the version.',
    tag: TAG,
    access: 'key',
    params: DatasetTagParams,
    query: pageOfThousand,
    responses: { 200: listOf(DatasetTagMoveRead, 'The moves.') },
    errors: ['not_found', 'unavailable'],
    handle: ({ principal, params: { name, tag }, query }) => ({
      status: 200,
      body: tags
        .history(principal.project_id, name, tag, query)
        .map(({ at, ...move }) => ({ ...move, at: formatTimestamp(at) })),
    }),
  });
}
