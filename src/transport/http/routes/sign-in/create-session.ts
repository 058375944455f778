import type { IncomingHttpHeaders } from 'node:http';
import { DomainError } from '../../../../domain/errors.js';
import type { Credentials, SignInService } from '../../../../domain/identity/sign-in-service.js';
import { invalid } from '../../../../domain/validation/validation.js';
import type { SignInObserver } from '../../../../observability/events/requests.js';
import { clientAddress, networkOf } from '../../../client-address.js';
import type { Callers } from '../../callers.js';
import type { MinuteLimit } from '../../minute-limit.js';
import { requireOwnOrigin } from '../../own-origin.js';
import { defineRoute, jsonBody, type Opening, type Route } from '../../route.js';
import type { SessionCookie } from '../../session-cookie.js';
import { SignInRequest, TAG } from './schema.js';

export interface CreateSessionParts {
  readonly signIns: Pick<SignInService, 'signIn' | 'signOut'>;
  readonly callers: Pick<Callers, 'session'>;
  readonly cookie: Pick<SessionCookie, 'keeping'>;
  readonly baseUrl: () => string;
  readonly trustedProxies: number;
  /** Attempts of one address. */
  readonly attempts: MinuteLimit;
  readonly observer: SignInObserver;
}

const MAX_BODY_BYTES = 4096;

export function createSessionRoute(parts: CreateSessionParts): Route {
  const { signIns, callers, cookie, baseUrl, attempts } = parts;
  const addressOf = (headers: IncomingHttpHeaders, remoteAddress: string) =>
    networkOf(clientAddress(headers, remoteAddress, parts.trustedProxies));
  return defineRoute({
    method: 'POST',
    path: '/console/session',
    operationId: 'signIn',
    summary: 'Sign in',
    description:
      'Signs a person in by a code or an API key: the answer sets a cookie, which ends an earlier sign-in of the browser. It opens what the key opens, or ' +
      'the keys of the user whom the code is for. Ten attempts a minute are taken from one address.',
    tag: TAG,
    access: 'public',
    body: { ...jsonBody(SignInRequest), maxBytes: MAX_BODY_BYTES },
    responses: { 204: { description: 'Signed in.', headers: { 'Set-Cookie': 'The cookie.' } } },
    errors: ['unauthenticated', 'forbidden', 'unavailable'],
    admit: ({ headers, remoteAddress }: Opening<unknown>) =>
      observed(parts.observer, addressOf(headers, remoteAddress), async (address) => {
        await attempts.take(address);
        requireOwnOrigin(headers, baseUrl());
      }),
    handle: ({ body, headers, remoteAddress }) =>
      observed(parts.observer, addressOf(headers, remoteAddress), (address) => {
        const token = signIns.signIn(credentialsOf(body));
        const earlier = callers.session(headers);
        if (earlier !== undefined) signIns.signOut(earlier);
        parts.observer.signInAttempted({ result: 'signed_in', address });
        return { status: 204, headers: { 'Set-Cookie': cookie.keeping(token) } };
      }),
  });
}

function credentialsOf({ code, key }: SignInRequest): Credentials {
  if (code !== undefined && key === undefined) return { code };
  if (key !== undefined && code === undefined) return { key };
  throw invalid([{ pointer: '', detail: 'must have either code or key' }]);
}

/** Tells of refusals. */
async function observed<T>(
  observer: SignInObserver,
  address: string,
  work: (address: string) => T | Promise<T>,
): Promise<T> {
  try {
    return await work(address);
  } catch (error) {
    const kind = error instanceof DomainError ? error.kind : null;
    if (kind === 'unauthenticated' || kind === 'forbidden' || kind === 'overloaded')
      observer.signInAttempted({ result: kind, address });
    throw error;
  }
}
