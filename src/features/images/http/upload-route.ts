import { Type } from '@sinclair/typebox';
import { DomainError } from '../../../engine/errors.js';
import { invalid } from '../../../engine/validation/validation.js';
import { defineRoute, type BodyDefinition, type Opening } from '../../../http/route.js';
import { MAX_IMAGE_BYTES } from '../image.js';
import type { UploadGrant } from '../signature.js';
import { ANNOUNCED_TYPES, KEPT_KINDS } from '../media.js';
import type { ImageUploads } from '../uploads.js';

const body: BodyDefinition<Buffer> = {
  maxBytes: MAX_IMAGE_BYTES,
  contentTypes: ANNOUNCED_TYPES,
  schema: Type.String({ format: 'binary', description: `One of: ${KEPT_KINDS}.` }),
  decode: (bytes) => bytes,
};

const Stored = Type.Object(
  { sha256: Type.String({ description: 'SHA-256 of the file, in hexadecimal.' }) },
  { $id: 'UploadedImage', description: 'The file is stored.' },
);

/** The route that every upload URL points to. What the URL allows is looked at before a byte is read. */
export function uploadRoute(uploads: Pick<ImageUploads, 'grantOf' | 'store'>) {
  return defineRoute({
    method: 'PUT',
    path: '/attachments/uploads/:upload_grant',
    operationId: 'uploadAttachment',
    summary: 'Send an image or file to its upload URL',
    description:
      'Stores the file that was announced: its size, media type and SHA-256 must be those of the announcement. The URL works for ' +
      'one hour.',
    tag: 'Traces',
    access: 'public',
    params: Type.Object({
      upload_grant: Type.String({ maxLength: 2_000, description: 'What the URL allows, signed.' }),
    }),
    body,
    responses: { 200: { description: 'The file is stored.', schema: Stored } },
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
    throw invalid([{ pointer: '', detail: `the file must have ${bytes} bytes, as announced, not ${length}` }]);
}
