import type { Static } from '@sinclair/typebox';
import { mayRead } from '../../../engine/identity/scopes.js';
import { MAX_IMAGES_PER_REQUEST, MAX_IMAGES_PER_SPAN } from '../../images/image.js';
import { SpanInput } from '../../../engine/traces/model/span/schema.js';
import type { PostSpansOptions, SpanIngest } from '../span-ingest.js';
import { SpanRead, partly } from '../../../engine/traces/model/list/read-schemas.js';
import { defineRoute, jsonBytes } from '../../../http/route.js';

/** The answer to stored spans, to be rendered or rendered already. */
export type SpansAnswer =
  { readonly body: readonly Partial<Static<typeof SpanRead>>[] } | { readonly json: Buffer; readonly once: true };

/**
 * Stores the spans of a JSON body.
 * @throws DomainError `malformed`, and what {@link SpanIngest.postSpans} does
 */
export type PostSpans = (projectId: string, body: Buffer, options: PostSpansOptions) => Promise<SpansAnswer>;

/** @param parse parses JSON, or throws DomainError `malformed` */
export function createPostSpans(ingest: Pick<SpanIngest, 'postSpans'>, parse: (bytes: Buffer) => unknown) {
  return async (projectId: string, body: Buffer, options: PostSpansOptions) => ({
    body: await ingest.postSpans(projectId, parse(body), options),
  });
}

export function postSpansRoute(postSpans: PostSpans) {
  return defineRoute({
    method: 'POST',
    path: '/spans',
    operationId: 'postSpans',
    summary: 'Store spans',
    description: `Stores an array of spans, all or none. Creates the traces and sessions that they belong to. If you send a span again (by trace and id), it replaces the earlier one, so a retry changes nothing. Once the call responds, the spans are durable and in every list and figure. With \`Prefer: return=minimal\`, the response has only the ids. A key that may only send gets no calculated \`cost\`, and of a prompt only what it sent. A span may have up to ${MAX_IMAGES_PER_SPAN} images in \`attributes.attachments\` and its output, a request up to ${MAX_IMAGES_PER_REQUEST}.`,
    tag: 'Traces',
    access: 'key',
    body: jsonBytes(SpanInput, 'The spans.'),
    responses: {
      200: { description: 'The spans as stored, in the order of the request.', schema: partly(SpanRead) },
    },
    errors: ['invalid', 'overloaded', 'unavailable'],
    async handle({ principal, body, headers, unknown }) {
      const minimal = /(^|[,\s])return=minimal($|[,;\s])/i.test(String(headers['prefer'] ?? ''));
      const stored = await postSpans(principal.project_id, body, {
        minimal,
        mayRead: mayRead(principal),
        unknown,
      });
      return { status: 200, ...stored, ...(minimal ? { headers: { 'Preference-Applied': 'return=minimal' } } : {}) };
    },
  });
}
