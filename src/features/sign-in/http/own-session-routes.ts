import type { IncomingHttpHeaders } from 'node:http';
import { DomainError } from '../../../engine/errors.js';
import type { OwnSessions } from '../../../engine/identity/own-sessions.js';
import type { SignIn } from '../../../engine/identity/sign-in.js';
import type { Callers } from '../../../http/callers.js';
import { requestOf } from './origin.js';
import { defineRoute, listOf } from '../../../http/route.js';
import { toOwnSessionRead } from './presenters.js';
import { OwnSessionParams, OwnSessionRead, TAG } from './schema.js';

export interface OwnSessionRoutesParts {
  readonly ownSessions: OwnSessions;
  readonly callers: Pick<Callers, 'session'>;
  readonly trustedProxies: number;
}

/** What a person sees and ends of their own sessions: by the cookie alone, never by a key. */
export function ownSessionRoutes({ ownSessions, callers, trustedProxies }: OwnSessionRoutesParts) {
  const sessionOf = (headers: IncomingHttpHeaders): SignIn => {
    const session = callers.session(headers);
    if (session === undefined) throw new DomainError('unauthenticated', 'The session has ended: sign in again');
    return session;
  };
  return [
    defineRoute({
      method: 'GET',
      path: '/console/sessions',
      operationId: 'listOwnSessions',
      summary: 'List your sessions',
      description:
        'Returns the 100 newest sessions of the user of the cookie, newest first. A session that opens more than the one of the ' +
        'request is not among them.',
      tag: TAG,
      access: 'public',
      responses: { 200: listOf(OwnSessionRead, 'The sessions.') },
      errors: ['unauthenticated', 'forbidden', 'unavailable'],
      handle({ headers }) {
        const session = sessionOf(headers);
        return { status: 200, body: ownSessions.list(session).map((one) => toOwnSessionRead(one, session.id)) };
      },
    }),
    defineRoute({
      method: 'DELETE',
      path: '/console/sessions/:sign_in_id',
      operationId: 'endOwnSession',
      summary: 'End one of your sessions',
      description: 'Ends a session that the list of your sessions has, in all projects.',
      tag: TAG,
      access: 'public',
      params: OwnSessionParams,
      responses: { 204: { description: 'The session has ended.' } },
      errors: ['unauthenticated', 'forbidden', 'not_found', 'unavailable'],
      handle({ params, ...request }) {
        ownSessions.end(sessionOf(request.headers), params.sign_in_id, requestOf(request, trustedProxies));
        return { status: 204 };
      },
    }),
    defineRoute({
      method: 'DELETE',
      path: '/console/sessions',
      operationId: 'endOtherSessions',
      summary: 'End all your other sessions',
      description: 'Ends all sessions that the list of your sessions has, except for the one of the request.',
      tag: TAG,
      access: 'public',
      responses: { 204: { description: 'The other sessions have ended.' } },
      errors: ['unauthenticated', 'forbidden', 'unavailable'],
      handle(request) {
        ownSessions.endOthers(sessionOf(request.headers), requestOf(request, trustedProxies));
        return { status: 204 };
      },
    }),
  ];
}
