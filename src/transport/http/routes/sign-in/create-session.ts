import type { IncomingHttpHeaders } from 'node:http';
import { DomainError } from '../../../../domain/errors.js';
import type { SignIn } from '../../../../domain/identity/sign-in.js';
import type { Credentials, SignInService } from '../../../../domain/identity/sign-in-service.js';
import type { SignInObserver } from '../../../../observability/events/requests.js';
import type { Callers } from '../../callers.js';
import { defineRoute, jsonBody, type Route } from '../../route.js';
import type { SessionCookie } from '../../session-cookie.js';
import { credentialsOf, type SignInAttempts } from './attempts.js';
import { SignInRequest, TAG } from './schema.js';

export interface CreateSessionParts {
  readonly signIns: Pick<SignInService, 'preview' | 'userOf' | 'signIn' | 'signOut'>;
  readonly callers: Pick<Callers, 'session'>;
  readonly cookie: Pick<SessionCookie, 'keeping'>;
  readonly attempts: SignInAttempts;
  readonly observer: SignInObserver;
}

export const MAX_BODY_BYTES = 4096;

export function createSessionRoute({ signIns, callers, cookie, attempts, observer }: CreateSessionParts): Route {
  /** The sign-in that the browser has already, if the new one may end it. */
  const replaceable = (
    headers: IncomingHttpHeaders,
    credentials: Credentials,
    replace: boolean,
  ): SignIn | undefined => {
    const earlier = callers.session(headers);
    const current = earlier && signIns.userOf(earlier);
    const { user } = signIns.preview(credentials);
    if (current !== undefined && current.id !== user.id && !replace)
      throw new DomainError(
        'conflict',
        `This browser is signed in as ${current.name}. To sign in as ${user.name} instead, send "replace": true`,
      );
    return earlier;
  };
  return defineRoute({
    method: 'POST',
    path: '/console/session',
    operationId: 'signIn',
    summary: 'Sign in',
    description:
      'Signs a person in with a code or an API key: the response sets a cookie. It has the permissions of the key, ' +
      "or of the keys of the code's user. An earlier session of the browser ends; a session of another user only " +
      'with `replace`. An address may make ten failed attempts per minute.',
    tag: TAG,
    access: 'public',
    body: { ...jsonBody(SignInRequest), maxBytes: MAX_BODY_BYTES },
    responses: { 204: { description: 'Signed in.', headers: { 'Set-Cookie': 'The cookie.' } } },
    errors: ['unauthenticated', 'forbidden', 'conflict', 'unavailable'],
    admit: (opening) => attempts.requireOwnPage(opening),
    async handle({ body, headers, remoteAddress }) {
      const credentials = credentialsOf(body);
      const token = await attempts.try({ headers, remoteAddress }, ({ address }) => {
        const earlier = replaceable(headers, credentials, body.replace === true);
        const { token, ...who } = signIns.signIn(credentials);
        if (earlier !== undefined) signIns.signOut(earlier);
        observer.signedIn({ opened: who, address });
        return token;
      });
      return { status: 204, headers: { 'Set-Cookie': cookie.keeping(token) } };
    },
  });
}
