import type { IncomingHttpHeaders } from 'node:http';
import { DomainError } from '../../../engine/errors.js';
import type { IdentityService } from '../../../engine/identity/identity-service.js';
import type { Identity, Principal } from '../../../engine/identity/identity.js';
import type { SignInService } from '../../../engine/identity/sign-in-service.js';
import type { Credentials, SignIn } from '../../../engine/identity/sign-in.js';
import { credentialsOf, SignInAttempts } from './attempts.js';
import { type Callers, PROJECT_HEADER } from '../../../http/callers.js';
import { MinuteLimit } from '../../../http/minute-limit.js';
import type { InvitationService } from '../../../engine/identity/invitation-service.js';
import type { OwnSessions } from '../../../engine/identity/own-sessions.js';
import { defineRoute, jsonBody } from '../../../http/route.js';
import type { SessionCookie } from '../../../http/session-cookie.js';
import { formatOptionalTimestamp } from '../../../engine/timestamp.js';
import { invitationRoutes } from './invitation-routes.js';
import { originOf, requestOf } from './origin.js';
import { ownSessionRoutes } from './own-session-routes.js';
import { named, toSignInPreviewRead } from './presenters.js';
import { projectSignInRoutes } from './project-sign-in-routes.js';
import {
  type Capabilities,
  SignInCredentials,
  SignedOut,
  SignInPreview,
  SignInRequest,
  TAG,
  WhoAmI,
} from './schema.js';
import type { Signals } from '../../../engine/signals/signals.js';

export interface SignInRoutesParts {
  readonly identity: IdentityService;
  readonly signIns: SignInService;
  readonly ownSessions: OwnSessions;
  readonly invitations: InvitationService;
  readonly callers: Callers;
  readonly cookie: SessionCookie;
  /** Base of the URLs handed out. */
  readonly baseUrl: () => string;
  readonly trustedProxies: number;
  /** Failed sign-ins of one address, and invitations of one project. */
  readonly attemptsPerMinute: number;
  readonly version: string;
  readonly capabilities: Capabilities;
  /** Where people sign out who came by a provider of single sign-on; null: it offers nothing for that. */
  readonly providerSignOut: () => Promise<string | null>;
  readonly observer: Pick<Signals, 'signInAttempted' | 'signedIn'>;
}

/** Signing in to the console, who is signed in, and who is invited. */
export function signInRoutes({ attemptsPerMinute, ...parts }: SignInRoutesParts) {
  const attempts = new SignInAttempts({ ...parts, perMinute: attemptsPerMinute });
  return [
    createSessionRoute({ ...parts, attempts }),
    previewSignInRoute({ ...parts, attempts }),
    deleteSessionRoute(parts),
    whoAmIRoute(parts),
    ...invitationRoutes({ ...parts, attempts, invites: new MinuteLimit(attemptsPerMinute) }),
    ...projectSignInRoutes(parts.signIns),
    ...ownSessionRoutes(parts),
  ];
}

export interface CreateSessionParts {
  readonly signIns: Pick<SignInService, 'preview' | 'userOf' | 'signIn' | 'signOut'>;
  readonly callers: Pick<Callers, 'session'>;
  readonly cookie: Pick<SessionCookie, 'keeping'>;
  readonly attempts: SignInAttempts;
  readonly observer: Pick<Signals, 'signInAttempted' | 'signedIn'>;
  readonly trustedProxies: number;
}

export const MAX_BODY_BYTES = 4096;

function createSessionRoute({ signIns, callers, cookie, attempts, observer, trustedProxies }: CreateSessionParts) {
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
    async handle({ body, headers, remoteAddress, requestId }) {
      const credentials = credentialsOf(body);
      const token = await attempts.try({ headers, remoteAddress }, () => {
        const earlier = replaceable(headers, credentials, body.replace === true);
        const request = requestOf({ headers, remoteAddress, requestId }, trustedProxies);
        const { token } = signIns.signIn(credentials, originOf({ headers, remoteAddress }, trustedProxies), request);
        if (earlier !== undefined) signIns.signOut(earlier, request);
        observer.signedIn();
        return token;
      });
      return { status: 204, headers: { 'Set-Cookie': cookie.keeping(token) } };
    },
  });
}

export interface PreviewSignInParts {
  readonly signIns: Pick<SignInService, 'preview' | 'userOf' | 'mayJoin'>;
  readonly callers: Pick<Callers, 'session'>;
  readonly attempts: SignInAttempts;
}

function previewSignInRoute({ signIns, callers, attempts }: PreviewSignInParts) {
  return defineRoute({
    method: 'POST',
    path: '/console/session:preview',
    operationId: 'previewSignIn',
    summary: 'Preview a sign-in',
    description:
      'Returns whom a code or an API key would sign in, and who is signed in now, so that a page can ask for ' +
      'confirmation. It does not sign anyone in, and a code still works afterwards. Failed attempts count toward ' +
      'the limit for signing in.',
    tag: TAG,
    access: 'public',
    body: { ...jsonBody(SignInCredentials), maxBytes: MAX_BODY_BYTES },
    responses: { 200: { description: 'Whom the code or key would sign in.', schema: SignInPreview } },
    errors: ['unauthenticated', 'forbidden', 'unavailable'],
    admit: (opening) => attempts.requireOwnPage(opening),
    async handle({ body, headers, remoteAddress }) {
      const credentials = credentialsOf(body);
      const preview = await attempts.try({ headers, remoteAddress }, () => signIns.preview(credentials));
      const session = callers.session(headers);
      const joinable = session !== undefined && preview.invited && signIns.mayJoin(session, preview.projects);
      return { status: 200, body: toSignInPreviewRead(preview, session && signIns.userOf(session), joinable) };
    },
  });
}

export interface DeleteSessionParts {
  readonly signIns: Pick<SignInService, 'signOut'>;
  readonly callers: Pick<Callers, 'session'>;
  readonly cookie: Pick<SessionCookie, 'removing'>;
  readonly providerSignOut: () => Promise<string | null>;
  readonly trustedProxies: number;
}

function deleteSessionRoute({ signIns, callers, cookie, providerSignOut, trustedProxies }: DeleteSessionParts) {
  return defineRoute({
    method: 'DELETE',
    path: '/console/session',
    operationId: 'signOut',
    summary: 'Sign out',
    description:
      'Ends the session of the cookie, and removes the cookie. Without a cookie, no session ends. Returns a URL for a person ' +
      'who signed in by an OpenID Connect provider, if that offers to sign out there, too.',
    tag: TAG,
    access: 'public',
    responses: {
      200: {
        description: 'Signed out here.',
        headers: { 'Set-Cookie': 'Removes the cookie.' },
        schema: SignedOut,
      },
      204: { description: 'Signed out.', headers: { 'Set-Cookie': 'Removes the cookie.' } },
    },
    errors: ['forbidden', 'unavailable'],
    async handle({ headers, remoteAddress, requestId }) {
      const session = callers.session(headers);
      if (session !== undefined)
        signIns.signOut(session, requestOf({ headers, remoteAddress, requestId }, trustedProxies));
      const removed = { 'Set-Cookie': cookie.removing() };
      const url = session?.provider === 'oidc' ? await providerSignOut() : null;
      return url === null ? { status: 204, headers: removed } : { status: 200, body: { url }, headers: removed };
    },
  });
}

export interface WhoAmIParts {
  readonly identity: Pick<IdentityService, 'describe'>;
  readonly signIns: Pick<SignInService, 'projectsOf'>;
  readonly callers: Pick<Callers, 'session'>;
  readonly version: string;
  readonly capabilities: Capabilities;
}

function whoAmIRoute({ identity, signIns, callers, version, capabilities }: WhoAmIParts) {
  const projectsOf = (principal: Principal, headers: IncomingHttpHeaders, own: Identity['project']) => {
    const session = principal.sign_in_id === null ? undefined : callers.session(headers);
    return session === undefined ? [own] : signIns.projectsOf(session);
  };
  return defineRoute({
    method: 'GET',
    path: '/whoami',
    operationId: 'whoAmI',
    summary: 'Identify the caller',
    description: `Returns user, project and key of the request, the role of the user in the project, the projects that it could be for, and the capabilities of the server. Keys with any access may call it. With the cookie, the header \`${PROJECT_HEADER}\` is optional: without it, the project is the first of \`projects\`.`,
    tag: TAG,
    access: 'key',
    scopes: [],
    anyProject: true,
    responses: { 200: { description: 'User, project and key of the request.', schema: WhoAmI } },
    errors: ['unavailable'],
    handle({ principal, headers }) {
      const { user, project, key } = identity.describe(principal);
      const { role } = principal;
      const body: WhoAmI = {
        user: named(user),
        project: named(project),
        key: {
          ...named(key),
          access: key.access,
          scopes: [...key.scopes],
          expires_at: formatOptionalTimestamp(key.expires_at),
        },
        role,
        projects: projectsOf(principal, headers, project).map(named),
        version,
        capabilities,
      };
      return { status: 200, body };
    },
  });
}
