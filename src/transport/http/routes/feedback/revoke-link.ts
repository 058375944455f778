import { Type } from '@sinclair/typebox';
import type { LinkService } from '../../../../domain/review/link-service.js';
import { uuid } from '../../../../domain/schema/parts.js';
import { defineRoute, type Route } from '../../route.js';
import { TAG } from './schema.js';

export function revokeLinkRoute(links: Pick<LinkService, 'revoke'>): Route {
  return defineRoute({
    method: 'DELETE',
    path: '/feedback-links/:link_id',
    operationId: 'revokeFeedbackLink',
    summary: 'Revoke a feedback link',
    description: 'The URL of the link stops working immediately. Its feedback is kept, and the link stays in the list.',
    tag: TAG,
    access: 'key',
    params: Type.Object({ link_id: uuid('Id of the link.') }),
    responses: { 204: { description: 'The link is revoked.' } },
    errors: ['not_found', 'unavailable'],
    handle({ principal, params }) {
      links.revoke(principal, params.link_id);
      return { status: 204 };
    },
  });
}
