import { Type } from '@sinclair/typebox';
import { uuid } from '../../../engine/schema/parts.js';
import { formatOptionalTimestamp, formatTimestamp } from '../../../engine/timestamp.js';
import { page } from '../../../http/page.js';
import { project_id } from '../../../http/parameters.js';
import { queryOf } from '../../../http/query.js';
import { defineRoute, jsonBody } from '../../../http/route.js';
import { MAX_COMMENTS, type Comment } from '../comment.js';
import type { CommentService } from '../comment-service.js';
import { CommentInput, CommentPageRead, CommentPatch, CommentRead } from '../schema.js';

/** How the documentation groups these routes. They are part of what people say, and need the scopes of feedback. */
const TAG = 'Comments';

const TraceParams = Type.Object({ project_id, trace_id: uuid('Id of the trace.') });
const CommentParams = Type.Object({ project_id, comment_id: uuid('Id of the comment.') });
const COMMENT = { 200: { description: 'The comment.', schema: CommentRead } };

/** Comments on traces. */
export function commentRoutes(comments: CommentService) {
  return [createRoute(comments), listRoute(comments), updateRoute(comments), deleteRoute(comments)];
}

function createRoute(comments: Pick<CommentService, 'create'>) {
  return defineRoute({
    method: 'POST',
    path: '/projects/:project_id/traces/:trace_id/comments',
    operationId: 'createComment',
    summary: 'Comment on a trace',
    description:
      'Adds a comment of the caller to a stored trace, or to a span of it. Masking rules of the project apply to its text. A trace has ' +
      `at most ${MAX_COMMENTS} comments (409). They are deleted with the trace, and those on a span with the span.`,
    tag: TAG,
    access: 'key',
    params: TraceParams,
    body: jsonBody(CommentInput),
    responses: { 201: { description: 'The comment.', schema: CommentRead } },
    errors: ['invalid', 'not_found', 'conflict', 'unavailable'],
    handle: async ({ principal, params, body }) => ({
      status: 201,
      body: toRead(await comments.create(principal, params.trace_id, body)),
    }),
  });
}

const ListQuery = Type.Object({
  ...page({ maxLimit: MAX_COMMENTS, defaultLimit: 100, maxOffset: MAX_COMMENTS }),
  span_id: Type.Optional(uuid('Only comments on this span.')),
});

function listRoute(comments: Pick<CommentService, 'list'>) {
  return defineRoute({
    method: 'GET',
    path: '/projects/:project_id/traces/:trace_id/comments',
    operationId: 'listComments',
    summary: 'List the comments on a trace',
    description:
      'Returns comments on the trace and on its spans, the oldest first. A trace that is not stored has none.',
    tag: TAG,
    access: 'key',
    bulk: 'gathered',
    params: TraceParams,
    query: queryOf(ListQuery),
    responses: { 200: { description: 'A page of comments.', schema: CommentPageRead } },
    errors: ['unavailable'],
    handle({ params, query: { span_id = null, ...window } }) {
      const { comments: found, total } = comments.list(params.project_id, params.trace_id, span_id, window);
      return { status: 200, body: { comments: found.map(toRead), total, ...window } };
    },
  });
}

function updateRoute(comments: Pick<CommentService, 'edit'>) {
  return defineRoute({
    method: 'PATCH',
    path: '/projects/:project_id/comments/:comment_id',
    operationId: 'updateComment',
    summary: 'Edit a comment',
    description: "Changes the text of one of the caller's own comments. Anyone else gets 403, whatever their role.",
    tag: TAG,
    access: 'key',
    params: CommentParams,
    body: jsonBody(CommentPatch),
    responses: COMMENT,
    errors: ['invalid', 'forbidden', 'not_found', 'unavailable'],
    handle: ({ principal, params, body }) => ({
      status: 200,
      body: toRead(comments.edit(principal, params.comment_id, body)),
    }),
  });
}

function deleteRoute(comments: Pick<CommentService, 'remove'>) {
  return defineRoute({
    method: 'DELETE',
    path: '/projects/:project_id/comments/:comment_id',
    operationId: 'deleteComment',
    summary: 'Delete a comment',
    description: "Deletes one of the caller's own comments; with the scope `admin`, anyone's.",
    tag: TAG,
    access: 'key',
    params: CommentParams,
    responses: { 204: { description: 'The comment is deleted.' } },
    errors: ['forbidden', 'not_found', 'unavailable'],
    handle({ principal, params }) {
      comments.remove(principal, params.comment_id);
      return { status: 204 };
    },
  });
}

function toRead({ id, trace_id, span_id, text, created_at, edited_at, user_id, user_name }: Comment): CommentRead {
  return {
    ...{ id, trace_id, span_id, text, created_at: formatTimestamp(created_at) },
    edited_at: formatOptionalTimestamp(edited_at),
    created_by: { id: user_id, name: user_name },
  };
}
