import { Type } from '@sinclair/typebox';
import { uuid } from '../../../engine/schema/parts.js';
import { formatOptionalTimestamp, formatTimestamp } from '../../../engine/timestamp.js';
import { pageOfThousand } from '../../../http/parameters.js';
import { defineRoute, jsonBody, listOf } from '../../../http/route.js';
import type { FeedbackLists } from '../../feedback/feedback-lists.js';
import { linkFeedbackQuery } from '../../feedback/http/list-query.js';
import { feedbackPageAnswer } from '../../feedback/http/page-json.js';
import { TAG } from '../../feedback/http/schema.js';
import { FeedbackPageRead } from '../../feedback/list-schema.js';
import type { CreatedLink, FeedbackLink, ListedLink } from '../feedback-link.js';
import type { LinkService } from '../link-service.js';
import { LinkInput, LinkPatch } from '../schema.js';
import { CreatedLinkRead, type LinkRead, ListedLinkRead } from './schema.js';

/** Links by which reviewers give feedback. */
export function linkRoutes(links: LinkService, lists: Pick<FeedbackLists, 'ofLink'>) {
  return [
    createLinkRoute(links),
    listLinksRoute(links),
    getLinkRoute(links),
    updateLinkRoute(links),
    revokeLinkRoute(links),
    listLinkFeedbackRoute(lists),
  ];
}

function createLinkRoute(links: Pick<LinkService, 'create'>) {
  return defineRoute({
    method: 'POST',
    path: '/feedback-links',
    operationId: 'createFeedbackLink',
    summary: 'Create a feedback link',
    description:
      "Creates a URL to share with reviewers who have no account. Its page shows the prompt's recent completions, or the " +
      'spans of `span_ids`, one by one and collects feedback on them. Only this response contains the URL.',
    tag: TAG,
    access: 'key',
    scopes: ['feedback:write', 'spans:read'],
    body: jsonBody(LinkInput),
    responses: { 200: { description: 'The link.', schema: CreatedLinkRead } },
    errors: ['not_found', 'invalid', 'unavailable'],
    handle: async ({ principal, body }) => ({
      status: 200,
      body: toCreatedLinkRead(await links.create(principal, body)),
    }),
  });
}

function listLinksRoute(links: Pick<LinkService, 'list'>) {
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

function getLinkRoute(links: Pick<LinkService, 'get'>) {
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

function updateLinkRoute(links: Pick<LinkService, 'update'>) {
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

function revokeLinkRoute(links: Pick<LinkService, 'revoke'>) {
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

function listLinkFeedbackRoute(lists: Pick<FeedbackLists, 'ofLink'>) {
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

/** A link that was made earlier: its URL is kept nowhere. */
function toListedLinkRead(link: ListedLink): ListedLinkRead {
  const { creator_id: id, creator_name: name, reviewer_count } = link;
  return { ...linkRead(link, null), created_by: { id, name }, reviewer_count };
}

function toCreatedLinkRead(link: CreatedLink): CreatedLinkRead {
  return { ...linkRead(link, link.url), note: link.opens_here_only ? HERE_ONLY : null };
}

const HERE_ONLY =
  'This URL works only on the server machine. To share links, start the server with PUBLIC_URL set to the address ' +
  'that others use; this link then works there too, with the same path.';

function linkRead(link: FeedbackLink, url: string | null): LinkRead {
  return {
    id: link.id,
    url,
    prompt_slug: link.prompt_slug,
    span_ids: link.span_ids && [...link.span_ids],
    link_type: link.link_type,
    created_at: formatTimestamp(link.created_at),
    expires_at: formatTimestamp(link.expires_at),
    revoked_at: formatOptionalTimestamp(link.revoked_at),
  };
}
