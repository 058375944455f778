import { Type } from '@sinclair/typebox';
import { DomainError } from '../../../engine/errors.js';
import { invalid } from '../../../engine/validation/validation.js';
import { defineRoute, type BodyDefinition, type Opening } from '../../../http/route.js';
import { MAX_IMAGE_BYTES } from '../image.js';
import type { UploadGrant } from '../signature.js';
import { UPLOADED_TYPES, type ImageUploads } from '../uploads.js';

const body: BodyDefinition<Buffer> = {
  maxBytes: MAX_IMAGE_BYTES,
  contentTypes: UPLOADED_TYPES,
  schema: Type.String({ format: 'binary', description: 'JPEG, PNG, WebP or GIF.' }),
  decode: (bytes) => bytes,
};

const Stored = Type.Object(
  { sha256: Type.String({ description: 'SHA-256 of the image, in hexadecimal.' }) },
  { $id: 'UploadedImage', description: 'The image is stored.' },
);

/** The route that every upload URL of an image points to. What the URL allows is looked at before a byte is read. */
export function uploadRoute(uploads: Pick<ImageUploads, 'grantOf' | 'store'>) {
  return defineRoute({
    method: 'PUT',
    path: '/attachments/uploads/:upload_grant',
    operationId: 'uploadAttachment',
    summary: 'Send an image to its upload URL',
    description:
      'Stores the image that was announced: its size, media type and SHA-256 must be those of the announcement. The URL works for ' +
      'one hour.',
    tag: 'Traces',
    access: 'public',
    params: Type.Object({
      upload_grant: Type.String({ maxLength: 2_000, description: 'What the URL allows, signed.' }),
    }),
    body,
    responses: { 200: { description: 'The image is stored.', schema: Stored } },
    errors: ['forbidden', 'not_found', 'invalid', 'too_large', 'unsupported_media', 'overloaded', 'unavailable'],
    admit: ({ params, headers }) => requireAnnounced(uploads.grantOf(params.upload_grant), headers),
    async handle({ params, body }) {
      const grant = uploads.grantOf(params.upload_grant);
      await uploads.store(grant, body);
      return { status: 200, body: { sha256: grant.sha256 } };
    },
  });
}

function requireAnnounced({ bytes, mediaType }: UploadGrant, headers: Opening<unknown>['headers']): void {
  if (headers['content-type']?.split(';')[0]?.trim().toLowerCase() !== mediaType)
    throw new DomainError('unsupported_media', `The Content-Type must be ${mediaType}, as announced`);
  const length = headers['content-length'];
  if (length !== undefined && headers['content-encoding'] === undefined && Number(length) !== bytes)
    throw invalid([{ pointer: '', detail: `the image must have ${bytes} bytes, as announced, not ${length}` }]);
}
