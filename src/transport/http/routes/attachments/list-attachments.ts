import { Type } from '@sinclair/typebox';
import type { AttachmentService } from '../../../../domain/attachment/attachment-service.js';
import { AttachmentList } from '../../../../domain/attachment/schema.js';
import { uuid } from '../../../../domain/schema/parts.js';
import { defineRoute, type Route } from '../../route.js';

export function listAttachmentsRoute(attachments: Pick<AttachmentService, 'list'>): Route {
  return defineRoute({
    method: 'GET',
    path: '/spans/:span_id/attachments',
    operationId: 'listAttachments',
    summary: 'List the images of a span',
    description:
      'Returns the images from `attributes.attachments` or from an `output_data` that is a JSON array, in that ' +
      'order. Their URLs need no API key and work for one hour.',
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
