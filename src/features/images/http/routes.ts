import { Type } from '@sinclair/typebox';
import type { AttachmentService } from '../attachment-service.js';
import { KEPT_KINDS } from '../media.js';
import { AttachmentList } from '../schema.js';
import type { ImageUploads } from '../uploads.js';
import { imageAnswer } from './image-answer.js';
import { uploadRoute } from './upload-route.js';
import { uuid } from '../../../engine/schema/parts.js';
import { queryOf } from '../../../http/query.js';
import { defineRoute } from '../../../http/route.js';

/** Images that spans carry. */
export function attachmentRoutes(attachments: AttachmentService, uploads: ImageUploads) {
  return [listAttachmentsRoute(attachments), getAttachmentRoute(attachments), uploadRoute(uploads)];
}

function listAttachmentsRoute(attachments: Pick<AttachmentService, 'list'>) {
  return defineRoute({
    method: 'GET',
    path: '/spans/:span_id/attachments',
    operationId: 'listAttachments',
    summary: 'List the images of a span',
    description:
      'Returns the images from `attributes.attachments` or from an `output_data` that is a JSON array, in that ' +
      'order, then images and other files that its texts refer to as Langfuse clients do. Their URLs need no API key and work for one hour.',
    tag: 'Traces',
    access: 'key',
    params: Type.Object({ span_id: uuid('Id of the span.') }),
    responses: { 200: { description: 'The images; an empty list if there are none.', schema: AttachmentList } },
    errors: ['not_found', 'unavailable'],
    async handle({ principal, params, signal }) {
      return { status: 200, body: await attachments.list(principal.project_id, params.span_id, signal) };
    },
  });
}

const anyText = (description: string) => Type.String({ description });

/** The route that every presigned URL of an image points to. */
function getAttachmentRoute(attachments: Pick<AttachmentService, 'open'>) {
  return defineRoute({
    method: 'GET',
    path: '/attachments/:project_id/:sha256',
    operationId: 'getAttachment',
    summary: 'Get an image or file by its presigned URL',
    description: 'Only URLs from a list of attachments work, exactly as returned, for one hour.',
    tag: 'Traces',
    access: 'public',
    params: Type.Object({
      project_id: anyText('Project of the image.'),
      sha256: anyText('SHA-256 of the image.'),
    }),
    // Whatever is wrong with a URL, it is not one that was handed out: 403, so nothing here is required.
    query: queryOf(
      Type.Object({
        expires: Type.Optional(anyText('When the URL expires, in Unix seconds.')),
        signature: Type.Optional(anyText('Signature of the URL.')),
      }),
    ),
    responses: {
      200: {
        description: 'The image or file, byte for byte. Only images are shown in pages; other files are downloads.',
        schema: Type.String({ format: 'binary', description: `One of: ${KEPT_KINDS}.` }),
        contentType: '*/*',
      },
      304: { description: 'The image is still the one named by `If-None-Match`.' },
    },
    errors: ['forbidden', 'not_found', 'unavailable'],
    async handle({ params, query, headers }) {
      const { project_id: projectId, sha256 } = params;
      const image = attachments.open({ projectId, sha256, expires: query.expires, signature: query.signature });
      return imageAnswer(image, headers, `private, max-age=${image.secondsLeft}, immutable`);
    },
  });
}
