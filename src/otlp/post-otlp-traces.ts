import { Type } from '@sinclair/typebox';
import { MAX_IMAGES_PER_REQUEST } from '../features/images/image.js';
import type { ExportTraces } from './export.js';
import { encodeResponse, encodeStatus, RPC_CODE, type OtlpEncoding } from './response.js';
import type { Tag } from '../http/route-scopes.js';
import { defineRoute, rawBody, type ErrorRenderer } from '../http/route.js';

const JSON_TYPE = 'application/json';
const PROTOBUF_TYPE = 'application/x-protobuf';

const PartialSuccess = Type.Object(
  {
    rejectedSpans: Type.String({ pattern: '^\\d+$', description: 'Number of refused spans; the others are stored.' }),
    errorMessage: Type.String({ description: 'Why spans were refused, for the first of them.' }),
  },
  { description: 'Only if spans were refused.' },
);

const ExportResponse = Type.Object(
  { partialSuccess: Type.Optional(PartialSuccess) },
  { $id: 'ExportTraceServiceResponse', description: 'The OTLP response; empty if every span was stored.' },
);

const OWN_PLACE = { path: '/v1/traces', operationId: 'postOtlpTraces', tag: 'Traces' } as const;

/**
 * OTLP/HTTP, as any OpenTelemetry exporter and the Collector's `otlphttp` exporter speak it.
 * @param place where it is served: clients of other systems know another path
 */
export function postOtlpTracesRoute(
  exportTraces: ExportTraces,
  place: Readonly<Record<'path' | 'operationId', string>> & { readonly tag: Tag } = OWN_PLACE,
) {
  return defineRoute({
    method: 'POST',
    ...place,
    scopes: ['spans:write'],
    summary: 'Export traces (OTLP)',
    description: `Accepts an ExportTraceServiceRequest in protobuf or JSON and responds in the same encoding. Spans that cannot be used are refused individually in \`partialSuccess\`, such as those with images beyond the ${MAX_IMAGES_PER_REQUEST} that a request may have; the others are stored. Errors are a google.rpc.Status in the encoding of the request. 429 and 503 have \`Retry-After\`, and retrying is always safe.`,
    access: 'key',
    body: rawBody([JSON_TYPE, PROTOBUF_TYPE], 'An ExportTraceServiceRequest.'),
    responses: { 200: { description: 'The usable spans are stored.', schema: ExportResponse } },
    errors: ['overloaded', 'unavailable'],
    renderError,
    async handle({ principal, body }) {
      const encoding = encodingOf(body.mediaType);
      const partial = await exportTraces(principal.project_id, { bytes: body.bytes, encoding });
      return {
        status: 200,
        contentType: body.mediaType,
        content: toBuffer(encodeResponse(encoding, partial)),
      };
    },
  });
}

function encodingOf(mediaType: string): OtlpEncoding {
  return mediaType === PROTOBUF_TYPE ? 'protobuf' : 'json';
}

/** google.rpc.Code by HTTP status, as its definition maps them. */
const CODES: Readonly<Record<number, number>> = {
  400: RPC_CODE.invalid_argument,
  401: RPC_CODE.unauthenticated,
  403: RPC_CODE.permission_denied,
  405: RPC_CODE.unimplemented,
  408: RPC_CODE.deadline_exceeded,
  413: RPC_CODE.resource_exhausted,
  415: RPC_CODE.invalid_argument,
  429: RPC_CODE.resource_exhausted,
  500: RPC_CODE.internal,
  503: RPC_CODE.unavailable,
};

/** OTLP wants a Status in the encoding of the request; in JSON where it came in neither. */
const renderError: ErrorRenderer = ({ status, detail }, request) => {
  const mediaType = request.headers['content-type']?.split(';', 1)[0]?.trim().toLowerCase() ?? '';
  const encoding = encodingOf(mediaType);
  return {
    contentType: encoding === 'protobuf' ? PROTOBUF_TYPE : JSON_TYPE,
    content: toBuffer(encodeStatus(encoding, CODES[status] ?? RPC_CODE.internal, detail)),
  };
};

function toBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
