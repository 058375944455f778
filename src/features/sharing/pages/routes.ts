import { Type } from '@sinclair/typebox';
import { uuid } from '../../../engine/schema/parts.js';
import { defineRoute } from '../../../http/route.js';
import { imageAnswer } from '../../images/http/image-answer.js';
import { TAG } from '../http/routes.js';
import type { ShareService } from '../share-service.js';
import type { SharedTraces } from '../shared-traces.js';
import type { ShareAdmission } from './admission.js';

export const SharedParams = Type.Object({
  token: Type.String({ description: 'Token of the link: the end of its URL.' }),
});

export interface SharedRoutesParts {
  readonly shares: Pick<ShareService, 'open' | 'used'>;
  readonly shared: SharedTraces;
  readonly admission: ShareAdmission;
}

/** Of the page alone: no search engine lists it, and nobody learns where it is. */
const HEADERS = { 'X-Robots-Tag': 'noindex, nofollow', 'Referrer-Policy': 'no-referrer' };
const OBJECT = Type.Record(Type.String(), Type.Unknown(), { description: 'What the page shows.' });

/** What the page of a share link shows. Nothing but the link's trace is ever reached by it. */
export function sharedRoutes({ shares, shared, admission }: SharedRoutesParts) {
  const common = {
    method: 'GET',
    tag: TAG,
    access: 'public',
    hidden: true,
    responses: { 200: { description: 'What is shown.', schema: OBJECT } },
    errors: ['not_found', 'overloaded', 'unavailable'],
    admit: (opening: Parameters<ShareAdmission['admit']>[0]) => admission.admit(opening),
  } as const;
  return [
    defineRoute({
      ...common,
      path: '/s/:token/trace',
      operationId: 'getSharedTraceData',
      summary: 'The trace of a share link',
      description: 'The trace and its tree, without what is left out.',
      params: SharedParams,
      async handle({ params: { token }, signal }) {
        const link = shares.open(token);
        const json = JSON.stringify(await shared.trace(link, signal));
        shares.used(link);
        return { status: 200, json, once: true, headers: HEADERS };
      },
    }),
    defineRoute({
      ...common,
      path: '/s/:token/spans/:span_id',
      operationId: 'getSharedSpanData',
      summary: 'A span of the trace of a share link',
      description: 'The span, without what is left out.',
      params: Type.Object({ ...SharedParams.properties, span_id: uuid('Id of the span.') }),
      async handle({ params: { token, span_id }, signal }) {
        const json = JSON.stringify(await shared.span(shares.open(token), token, span_id, signal));
        return { status: 200, json, once: true, headers: HEADERS };
      },
    }),
    defineRoute({
      ...common,
      path: '/s/:token/spans/:span_id/images/:place',
      operationId: 'getSharedImage',
      summary: 'An image of a span of a share link',
      description: 'The image, byte for byte, for as long as the link works.',
      params: Type.Object({
        ...SharedParams.properties,
        span_id: uuid('Id of the span.'),
        place: Type.String({ description: 'Place of the image among those of the span, from 0.' }),
      }),
      responses: {
        200: {
          description: 'The image.',
          schema: Type.String({ format: 'binary', description: 'The image.' }),
          contentType: '*/*',
        },
        304: { description: 'The image is still the one named by `If-None-Match`.' },
      },
      async handle({ params: { token, span_id, place }, headers, signal }) {
        const image = await shared.image(shares.open(token), span_id, place, signal);
        // Asked for each time: the link may end.
        const answer = await imageAnswer(image, headers, 'private, no-cache');
        return { ...answer, headers: { ...answer.headers, ...HEADERS } };
      },
    }),
  ];
}
