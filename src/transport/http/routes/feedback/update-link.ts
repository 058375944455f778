import { Type } from '@sinclair/typebox';
import type { LinkService } from '../../../../domain/review/link-service.js';
import { LinkPatch } from '../../../../domain/review/schema.js';
import { uuid } from '../../../../domain/schema/parts.js';
import { defineRoute, jsonBody, type Route } from '../../route.js';
import { toListedLinkRead } from './link-presenters.js';
import { ListedLinkRead } from './link-schema.js';
import { TAG } from './schema.js';

export function updateLinkRoute(links: Pick<LinkService, 'update'>): Route {
  return defineRoute({
    method: 'PATCH',
    path: '/feedback-links/:link_id',
    operationId: 'updateFeedbackLink',
    summary: 'Change when a feedback link expires',
    description:
      'Makes the link valid for the given number of days from now, even if that is less than before. The URL stays ' +
      'the same, and works again if it had expired. A revoked link stays revoked (409).',
    tag: TAG,
    access: 'key',
    params: Type.Object({ link_id: uuid('Id of the link.') }),
    body: jsonBody(LinkPatch),
    responses: { 200: { description: 'The link.', schema: ListedLinkRead } },
    errors: ['not_found', 'conflict', 'unavailable'],
    handle: ({ principal, params, body }) => ({
      status: 200,
      body: toListedLinkRead(links.update(principal, params.link_id, body)),
    }),
  });
}
