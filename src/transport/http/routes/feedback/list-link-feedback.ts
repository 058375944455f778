import { Type } from '@sinclair/typebox';
import type { FeedbackLists } from '../../../../domain/feedback/feedback-lists.js';
import { FeedbackPageRead } from '../../../../domain/feedback/list-schema.js';
import { uuid } from '../../../../domain/schema/parts.js';
import { defineRoute, type Route } from '../../route.js';
import { linkFeedbackQuery } from './list-query.js';
import { feedbackPageAnswer } from './page-json.js';
import { TAG } from './schema.js';

export function listLinkFeedbackRoute(lists: Pick<FeedbackLists, 'ofLink'>): Route {
  return defineRoute({
    method: 'GET',
    path: '/feedback-links/:link_id/feedback',
    operationId: 'listLinkFeedback',
    summary: 'List the feedback from a link',
    description:
      'Returns feedback that reviewers gave through a feedback link, newest first, even if the link is revoked or ' +
      'expired. Paging works as for the feedback on a prompt.',
    tag: TAG,
    access: 'key',
    params: Type.Object({ link_id: uuid('Id of the link.') }),
    query: linkFeedbackQuery,
    responses: { 200: { description: 'A page of feedback.', schema: FeedbackPageRead } },
    errors: ['not_found', 'unavailable'],
    bulk: true,
    handle: async ({ principal, params: { link_id }, query, signal }) =>
      feedbackPageAnswer(await lists.ofLink(principal.project_id, link_id, query, signal), query.window),
  });
}
