import { Type } from '@sinclair/typebox';
import type { LinkService } from '../../../../domain/review/link-service.js';
import { uuid } from '../../../../domain/schema/parts.js';
import { defineRoute, type Route } from '../../route.js';
import { toListedLinkRead } from './link-presenters.js';
import { ListedLinkRead } from './link-schema.js';
import { TAG } from './schema.js';

export function getLinkRoute(links: Pick<LinkService, 'get'>): Route {
  return defineRoute({
    method: 'GET',
    path: '/feedback-links/:link_id',
    operationId: 'getFeedbackLink',
    summary: 'Get a feedback link',
    description: 'Returns a feedback link of the project, even if it is expired or revoked. Its `url` is null.',
    tag: TAG,
    access: 'key',
    params: Type.Object({ link_id: uuid('Id of the link.') }),
    responses: { 200: { description: 'The link.', schema: ListedLinkRead } },
    errors: ['not_found', 'unavailable'],
    handle: ({ principal, params }) => ({
      status: 200,
      body: toListedLinkRead(links.get(principal.project_id, params.link_id)),
    }),
  });
}
