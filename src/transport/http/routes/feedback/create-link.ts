import type { LinkService } from '../../../../domain/review/link-service.js';
import { LinkInput } from '../../../../domain/review/schema.js';
import { defineRoute, jsonBody, type Route } from '../../route.js';
import { toCreatedLinkRead } from './link-presenters.js';
import { CreatedLinkRead } from './link-schema.js';
import { TAG } from './schema.js';

export function createLinkRoute(links: Pick<LinkService, 'create'>): Route {
  return defineRoute({
    method: 'POST',
    path: '/feedback-links',
    operationId: 'createFeedbackLink',
    summary: 'Create a feedback link',
    description:
      "Creates a URL to share with reviewers who have no account. Its page shows the prompt's recent completions " +
      'one by one and collects feedback on them. Only this response contains the URL.',
    tag: TAG,
    access: 'key',
    body: jsonBody(LinkInput),
    responses: { 200: { description: 'The link.', schema: CreatedLinkRead } },
    errors: ['not_found', 'unavailable'],
    handle: ({ principal, body }) => ({ status: 200, body: toCreatedLinkRead(links.create(principal, body)) }),
  });
}
