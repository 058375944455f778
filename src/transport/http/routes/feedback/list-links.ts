import type { LinkService } from '../../../../domain/review/link-service.js';
import { defineRoute, listOf, type Route } from '../../route.js';
import { pageOfThousand } from '../parameters.js';
import { toListedLinkRead } from './link-presenters.js';
import { ListedLinkRead } from './link-schema.js';
import { TAG } from './schema.js';

export function listLinksRoute(links: Pick<LinkService, 'list'>): Route {
  return defineRoute({
    method: 'GET',
    path: '/feedback-links',
    operationId: 'listFeedbackLinks',
    summary: 'List feedback links',
    description:
      'Returns the feedback links of the project, newest first, including expired and revoked ones. Their `url` is ' +
      'null.',
    tag: TAG,
    access: 'key',
    query: pageOfThousand,
    responses: {
      200: listOf(ListedLinkRead, 'The links.'),
    },
    errors: ['unavailable'],
    handle: ({ principal, query }) => ({
      status: 200,
      body: links.list(principal.project_id, query).map(toListedLinkRead),
    }),
  });
}
