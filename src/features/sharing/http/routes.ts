import { Type } from '@sinclair/typebox';
import { uuid } from '../../../engine/schema/parts.js';
import { formatOptionalTimestamp, formatTimestamp } from '../../../engine/timestamp.js';
import { page } from '../../../http/page.js';
import { project_id, ProjectParams } from '../../../http/parameters.js';
import { queryOf } from '../../../http/query.js';
import { defineRoute, jsonBody, listOf } from '../../../http/route.js';
import { CreatedShareLinkRead, ShareLinkInput, ShareLinkRead, SharingInput, SharingRead } from '../schema.js';
import type { CreatedShareLink, ListedShareLink } from '../share-link.js';
import type { ShareService } from '../share-service.js';

/** How the documentation groups these routes. */
export const TAG = 'Sharing';

/** Links by which people without an account read one trace. */
export function shareRoutes(shares: ShareService) {
  return [
    createRoute(shares),
    listRoute(shares),
    revokeRoute(shares),
    getSettingRoute(shares),
    setSettingRoute(shares),
  ];
}

function createRoute(shares: Pick<ShareService, 'create'>) {
  return defineRoute({
    method: 'POST',
    path: '/projects/:project_id/traces/:trace_id/share-links',
    operationId: 'createShareLink',
    summary: 'Share a trace',
    description:
      'Creates a URL that shows one trace, read-only, to anyone who has it, without an account. Only this response contains the URL. ' +
      'Returns 409 if an admin has switched share links off, or if there are too many.',
    tag: TAG,
    access: 'key',
    scopes: ['shares:write', 'spans:read'],
    params: Type.Object({ project_id, trace_id: uuid('Id of the trace.') }),
    body: jsonBody(ShareLinkInput),
    responses: { 201: { description: 'The link.', schema: CreatedShareLinkRead } },
    errors: ['invalid', 'not_found', 'conflict', 'unavailable'],
    handle: async ({ principal, params, body }) => ({
      status: 201,
      body: toCreated(await shares.create(principal, params.trace_id, body)),
    }),
  });
}

const ListQuery = Type.Object({
  ...page({ maxLimit: 1000, defaultLimit: 100 }),
  trace_id: Type.Optional(uuid('Only links to this trace.')),
});

function listRoute(shares: Pick<ShareService, 'list'>) {
  return defineRoute({
    method: 'GET',
    path: '/projects/:project_id/share-links',
    operationId: 'listShareLinks',
    summary: 'List share links',
    description:
      'Returns share links of the project, newest first, including expired and revoked ones, with who created them and how often ' +
      'they were used. Links are deleted with their trace.',
    tag: TAG,
    access: 'key',
    params: ProjectParams,
    query: queryOf(ListQuery),
    responses: { 200: listOf(ShareLinkRead, 'The links.') },
    errors: ['unavailable'],
    handle: ({ params, query: { trace_id = null, ...window } }) => ({
      status: 200,
      body: shares.list(params.project_id, trace_id, window).map(toRead),
    }),
  });
}

function revokeRoute(shares: Pick<ShareService, 'revoke'>) {
  return defineRoute({
    method: 'DELETE',
    path: '/projects/:project_id/share-links/:share_link_id',
    operationId: 'revokeShareLink',
    summary: 'Revoke a share link',
    description: 'The URL of the link stops working immediately. The link stays in the list.',
    tag: TAG,
    access: 'key',
    params: Type.Object({ project_id, share_link_id: uuid('Id of the share link.') }),
    responses: { 204: { description: 'The link is revoked.' } },
    errors: ['not_found', 'unavailable'],
    handle({ principal, params }) {
      shares.revoke(principal, params.share_link_id);
      return { status: 204 };
    },
  });
}

function getSettingRoute(shares: Pick<ShareService, 'isAllowed'>) {
  return defineRoute({
    method: 'GET',
    path: '/projects/:project_id/sharing',
    operationId: 'getSharing',
    summary: 'See whether share links are allowed',
    description: 'Returns whether share links of the project work, and can be created.',
    tag: TAG,
    access: 'key',
    params: ProjectParams,
    responses: { 200: { description: 'The setting.', schema: SharingRead } },
    errors: ['unavailable'],
    handle: ({ params }) => ({ status: 200, body: { allowed: shares.isAllowed(params.project_id) } }),
  });
}

function setSettingRoute(shares: Pick<ShareService, 'allow'>) {
  return defineRoute({
    method: 'PUT',
    path: '/projects/:project_id/sharing',
    operationId: 'setSharing',
    summary: 'Allow or forbid share links',
    description:
      'Switches all share links of the project off or on. Switched off, they answer 404 and none can be created; none is revoked, so ' +
      'that those which have not expired work again once they are switched on.',
    tag: TAG,
    access: 'key',
    scopes: ['admin'],
    params: ProjectParams,
    body: jsonBody(SharingInput),
    responses: { 200: { description: 'The setting.', schema: SharingRead } },
    errors: ['invalid', 'unavailable'],
    handle({ principal, body }) {
      shares.allow(principal, body.allowed);
      return { status: 200, body: { allowed: body.allowed } };
    },
  });
}

const HERE_ONLY =
  'This URL works only on the server machine. To share links, start the server with PUBLIC_URL set to the address ' +
  'that others use; this link then works there too, with the same path.';

function toCreated(link: CreatedShareLink) {
  return { ...toRead(link), url: link.url, note: link.opens_here_only ? HERE_ONLY : null };
}

function toRead(link: ListedShareLink): ShareLinkRead {
  const { id, trace_id, left_out, uses, creator_id, creator_name } = link;
  return {
    ...{ id, trace_id, left_out: [...left_out], uses, created_by: { id: creator_id, name: creator_name } },
    created_at: formatTimestamp(link.created_at),
    expires_at: formatTimestamp(link.expires_at),
    revoked_at: formatOptionalTimestamp(link.revoked_at),
    last_used_at: formatOptionalTimestamp(link.last_used_at),
  };
}
