import { Type } from '@sinclair/typebox';
import { DomainError } from '../engine/errors.js';
import { optional } from '../engine/schema/inputs.js';
import { time } from '../engine/schema/parts.js';
import { formatTimestamp } from '../engine/timestamp.js';
import { invalid } from '../engine/validation/validation.js';
import type { AttachmentService } from '../features/images/attachment-service.js';
import { KEPT_KINDS } from '../features/images/media.js';
import type { ImageUploads } from '../features/images/uploads.js';
import { defineRoute, jsonBody } from '../http/route.js';
import { renderError } from './errors.js';
import { MAX_ID, ownId, traceSpanId } from './ids.js';
import { TAG } from './tag.js';

export interface LangfuseMedia {
  readonly attachments: Pick<AttachmentService, 'media'>;
  readonly uploads: Pick<ImageUploads, 'announce' | 'isKnown' | 'announcedAt'>;
}

const mediaId = Type.String({ minLength: 1, maxLength: 64, description: 'Id of the media, as references have it.' });
const id = (description: string) => Type.String({ minLength: 1, maxLength: MAX_ID, description });

const MediaAnnounced = Type.Object(
  {
    traceId: optional(id('Trace that refers to the media. Required: media of dataset items is not stored.')),
    observationId: optional(id('Observation that refers to it; absent: the trace itself.')),
    contentType: Type.String({ maxLength: 200, description: `Media type: one of ${KEPT_KINDS}.` }),
    contentLength: Type.Integer({ minimum: 1, description: 'Size in bytes, up to 10 MB.' }),
    sha256Hash: Type.String({ pattern: '^[A-Za-z0-9+/]{43}=$', description: 'SHA-256 of the content, in base64.' }),
    field: optional(Type.String({ maxLength: 100, description: 'Ignored: references are found in all fields.' })),
  },
  { $id: 'LangfuseMediaInput', description: 'Media that a Langfuse client is about to upload.' },
);

const MediaUpload = Type.Object(
  {
    uploadUrl: Type.Union([Type.String(), Type.Null()], {
      description: 'Where to send the media by PUT, for one hour; null: it is stored already.',
    }),
    mediaId,
  },
  { $id: 'LangfuseMediaUpload', description: 'Where to send media.' },
);

const MediaReport = Type.Object(
  {
    uploadedAt: optional(Type.Unknown({ description: 'Ignored.' })),
    uploadHttpStatus: optional(Type.Unknown({ description: 'Ignored.' })),
    uploadHttpError: optional(Type.Unknown({ description: 'Ignored.' })),
    uploadTimeMs: optional(Type.Unknown({ description: 'Ignored.' })),
  },
  { $id: 'LangfuseMediaReport', description: 'The result of an upload, as reported by the client.' },
);

const MediaReported = Type.Object(
  { mediaId },
  { $id: 'LangfuseMediaReported', description: 'Media that is stored or expected.' },
);

const MediaRead = Type.Object(
  {
    mediaId,
    contentType: Type.String({ description: 'Media type, detected from the content.' }),
    contentLength: Type.Integer({ description: 'Size in bytes.' }),
    uploadedAt: time('When it was last announced; 1970 if that is not known.'),
    url: Type.String({ description: 'URL of the content, without a key.' }),
    urlExpiry: time('When the URL ends.'),
  },
  { $id: 'LangfuseMediaRead', description: 'Stored media, as clients of Langfuse read it.' },
);

/** Images and files that clients of Langfuse send apart from what refers to them. */
export function langfuseMediaRoutes(media: LangfuseMedia) {
  return [announceRoute(media), reportRoute(media), getRoute(media)];
}

function announceRoute({ uploads }: LangfuseMedia) {
  return defineRoute({
    method: 'POST',
    path: '/api/public/media',
    operationId: 'announceLangfuseMedia',
    summary: 'Get an upload URL for media (Langfuse)',
    description:
      'Announces a file, and returns where to send it. If no span refers to it within 24 hours, the file is deleted. Media of other ' +
      'types is refused (422), and so are files of more than 10 MB (413).',
    tag: TAG,
    access: 'key',
    body: jsonBody(MediaAnnounced, { lenient: true }),
    responses: { 201: { description: 'Where to send the media.', schema: MediaUpload } },
    errors: ['invalid', 'too_large', 'overloaded', 'unavailable'],
    renderError,
    handle({ principal: { project_id: projectId }, body }) {
      if (body.traceId == null)
        throw invalid([{ pointer: '/traceId', detail: 'is required: media of dataset items is not stored' }]);
      const trace = ownId(projectId, body.traceId);
      const announced = uploads.announce(projectId, {
        sha256: Buffer.from(body.sha256Hash, 'base64').toString('hex'),
        bytes: body.contentLength,
        mediaType: body.contentType.split(';')[0]?.trim().toLowerCase() ?? '',
        trace_id: trace,
        span_id: body.observationId == null ? traceSpanId(trace) : ownId(projectId, body.observationId),
      });
      return { status: 201, body: { uploadUrl: announced.url, mediaId: announced.id } };
    },
  });
}

const params = Type.Object({ media_id: mediaId });
const unknown = () => new DomainError('not_found', 'There is no media with this id');

function reportRoute({ uploads }: LangfuseMedia) {
  return defineRoute({
    method: 'PATCH',
    path: '/api/public/media/:media_id',
    operationId: 'reportLangfuseMedia',
    summary: 'Report an upload of media (Langfuse)',
    description: 'Changes nothing: the server knows what it stored. Clients call this after each upload.',
    tag: TAG,
    access: 'key',
    params,
    body: jsonBody(MediaReport, { lenient: true }),
    responses: { 200: { description: 'The media is known.', schema: MediaReported } },
    errors: ['not_found', 'unavailable'],
    renderError,
    handle({ principal, params }) {
      if (!uploads.isKnown(principal.project_id, params.media_id)) throw unknown();
      return { status: 200, body: { mediaId: params.media_id } };
    },
  });
}

function getRoute({ attachments, uploads }: LangfuseMedia) {
  return defineRoute({
    method: 'GET',
    path: '/api/public/media/:media_id',
    operationId: 'getLangfuseMedia',
    summary: 'Get stored media (Langfuse)',
    description: 'Returns where the media can be read for one hour.',
    tag: TAG,
    access: 'key',
    params,
    responses: { 200: { description: 'The media.', schema: MediaRead } },
    errors: ['not_found', 'unavailable'],
    renderError,
    handle({ principal: { project_id: projectId }, params }) {
      const { sha256, media_type, bytes, url, expires } = attachments.media(projectId, params.media_id);
      const at = uploads.announcedAt(projectId, sha256) ?? 0;
      return {
        status: 200,
        body: {
          ...{ mediaId: params.media_id, contentType: media_type, contentLength: bytes, url },
          uploadedAt: formatTimestamp(at),
          urlExpiry: formatTimestamp(expires * 1_000_000),
        },
      };
    },
  });
}
