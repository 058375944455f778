import type { SignInService } from '../../../../domain/identity/sign-in-service.js';
import type { Callers } from '../../callers.js';
import { defineRoute, type Route } from '../../route.js';
import type { SessionCookie } from '../../session-cookie.js';
import { TAG } from './schema.js';

export interface DeleteSessionParts {
  readonly signIns: Pick<SignInService, 'signOut'>;
  readonly callers: Pick<Callers, 'session'>;
  readonly cookie: Pick<SessionCookie, 'removing'>;
}

export function deleteSessionRoute({ signIns, callers, cookie }: DeleteSessionParts): Route {
  return defineRoute({
    method: 'DELETE',
    path: '/console/session',
    operationId: 'signOut',
    summary: 'Sign out',
    description: 'Ends the session of the cookie, and removes the cookie. Without a cookie, no session ends.',
    tag: TAG,
    access: 'public',
    responses: { 204: { description: 'Signed out.', headers: { 'Set-Cookie': 'Removes the cookie.' } } },
    errors: ['forbidden', 'unavailable'],
    handle({ headers }) {
      const session = callers.session(headers);
      if (session !== undefined) signIns.signOut(session);
      return { status: 204, headers: { 'Set-Cookie': cookie.removing() } };
    },
  });
}
