import type { IncomingHttpHeaders } from 'node:http';
import { DomainError } from '../../../engine/errors.js';
import type { IdentityService } from '../../../engine/identity/identity-service.js';
import type { Identity, Principal } from '../../../engine/identity/identity.js';
import type { Credentials, SignInService } from '../../../engine/identity/sign-in-service.js';
import type { SignIn } from '../../../engine/identity/sign-in.js';
import { credentialsOf, SignInAttempts } from './attempts.js';
import { type Callers, PROJECT_HEADER } from '../../../http/callers.js';
import { clientAddress, networkOf } from '../../../http/wire/client-address.js';
import { MinuteLimit } from '../../../http/minute-limit.js';
import { defineRoute, jsonBody, listOf } from '../../../http/route.js';
import type { SessionCookie } from '../../../http/session-cookie.js';
import { formatOptionalTimestamp } from '../../../engine/timestamp.js';
import { pageOfThousand, ProjectParams } from '../../../http/parameters.js';
import { named, toInvitationRead, toSignInPreviewRead, toSignInRead } from './presenters.js';
import {
  type Capabilities,
  Invitation,
  Invite,
  SignInCredentials,
  SignInParams,
  SignInPreview,
  SignInRead,
  SignInRequest,
  TAG,
  WhoAmI,
} from './schema.js';
import type { Signals } from '../../../engine/signals/signals.js';

export interface SignInRoutesParts {
  readonly identity: IdentityService;
  readonly signIns: SignInService;
  readonly callers: Callers;
  readonly cookie: SessionCookie;
  /** Base of the URLs handed out. */
  readonly baseUrl: () => string;
  readonly trustedProxies: number;
  /** Failed sign-ins of one address, and invitations of one project. */
  readonly attemptsPerMinute: number;
  readonly version: string;
  readonly capabilities: Capabilities;
  readonly observer: Pick<Signals, 'signInAttempted' | 'signedIn'>;
}

/** Signing in to the console, and who is signed in. */
export function signInRoutes({ attemptsPerMinute, ...parts }: SignInRoutesParts) {
  const attempts = new SignInAttempts({ ...parts, perMinute: attemptsPerMinute });
  return [
    createSessionRoute({ ...parts, attempts }),
    previewSignInRoute({ ...parts, attempts }),
    deleteSessionRoute(parts),
    whoAmIRoute(parts),
    createInviteRoute({ ...parts, attempts: new MinuteLimit(attemptsPerMinute) }),
    listSignInsRoute(parts.signIns),
    endSignInRoute(parts.signIns),
  ];
}

export interface CreateSessionParts {
  readonly signIns: Pick<SignInService, 'preview' | 'userOf' | 'signIn' | 'signOut'>;
  readonly callers: Pick<Callers, 'session'>;
  readonly cookie: Pick<SessionCookie, 'keeping'>;
  readonly attempts: SignInAttempts;
  readonly observer: Pick<Signals, 'signInAttempted' | 'signedIn'>;
}

export const MAX_BODY_BYTES = 4096;

function createSessionRoute({ signIns, callers, cookie, attempts, observer }: CreateSessionParts) {
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
      const token = await attempts.try({ headers, remoteAddress }, ({ address }) => {
        const earlier = replaceable(headers, credentials, body.replace === true);
        const origin = { request_id: requestId, address };
        const { token } = signIns.signIn(credentials, origin);
        if (earlier !== undefined) signIns.signOut(earlier, origin);
        observer.signedIn();
        return token;
      });
      return { status: 204, headers: { 'Set-Cookie': cookie.keeping(token) } };
    },
  });
}

export interface PreviewSignInParts {
  readonly signIns: Pick<SignInService, 'preview' | 'userOf'>;
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
      return { status: 200, body: toSignInPreviewRead(preview, session && signIns.userOf(session)) };
    },
  });
}

export interface DeleteSessionParts {
  readonly signIns: Pick<SignInService, 'signOut'>;
  readonly callers: Pick<Callers, 'session'>;
  readonly cookie: Pick<SessionCookie, 'removing'>;
  readonly trustedProxies: number;
}

function deleteSessionRoute({ signIns, callers, cookie, trustedProxies }: DeleteSessionParts) {
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
    handle({ headers, remoteAddress, requestId }) {
      const session = callers.session(headers);
      const address = networkOf(clientAddress(headers, remoteAddress, trustedProxies));
      if (session !== undefined) signIns.signOut(session, { request_id: requestId, address });
      return { status: 204, headers: { 'Set-Cookie': cookie.removing() } };
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
    description: `Returns user, project and key of the request, the projects that it could be for, and the capabilities of the server. Keys with any access may call it. With the cookie, the header \`${PROJECT_HEADER}\` is optional: without it, the project is the first of \`projects\`.`,
    tag: TAG,
    access: 'key',
    scopes: [],
    anyProject: true,
    responses: { 200: { description: 'User, project and key of the request.', schema: WhoAmI } },
    errors: ['unavailable'],
    handle({ principal, headers }) {
      const { user, project, key } = identity.describe(principal);
      const body: WhoAmI = {
        user: named(user),
        project: named(project),
        key: {
          ...named(key),
          access: key.access,
          scopes: [...key.scopes],
          expires_at: formatOptionalTimestamp(key.expires_at),
        },
        projects: projectsOf(principal, headers, project).map(named),
        version,
        capabilities,
      };
      return { status: 200, body };
    },
  });
}

export interface CreateInviteParts {
  readonly signIns: Pick<SignInService, 'invite'>;
  readonly baseUrl: () => string;
  /** Invitations of one project. */
  readonly attempts: MinuteLimit;
}

function createInviteRoute({ signIns, baseUrl, attempts }: CreateInviteParts) {
  return defineRoute({
    method: 'POST',
    path: '/projects/:project_id/invites',
    operationId: 'inviteColleague',
    summary: 'Invite a colleague',
    description:
      'Creates a user for a colleague, with an API key of the project that is never shown, and a URL that signs the ' +
      'colleague in once, within one hour. If the URL is not used in time, user and key are removed. A project can ' +
      'have at most 100 unused invitations, and create ten per minute.',
    tag: TAG,
    access: 'key',
    params: ProjectParams,
    body: jsonBody(Invite),
    responses: { 201: { description: 'The invitation.', schema: Invitation } },
    errors: ['conflict', 'unavailable'],
    admit: ({ params }) => attempts.take(params.project_id),
    handle({ principal, params, body: { name, access = 'full' } }) {
      const invitation = signIns.invite(params.project_id, { name, access }, principal);
      return { status: 201, body: toInvitationRead(invitation, baseUrl()) };
    },
  });
}

function listSignInsRoute(signIns: Pick<SignInService, 'list'>) {
  return defineRoute({
    method: 'GET',
    path: '/projects/:project_id/sign-ins',
    operationId: 'listSignIns',
    summary: 'List sign-ins',
    description:
      'Returns who is signed in to the project, and the unused sign-in URLs, newest first. Secrets are not shown.',
    tag: TAG,
    access: 'key',
    params: ProjectParams,
    query: pageOfThousand,
    responses: { 200: listOf(SignInRead, 'The sign-ins.') },
    errors: ['unavailable'],
    handle: ({ principal, params, query }) => ({
      status: 200,
      body: signIns.list(params.project_id, query).map((signIn) => toSignInRead(signIn, principal.sign_in_id)),
    }),
  });
}

function endSignInRoute(signIns: Pick<SignInService, 'end'>) {
  return defineRoute({
    method: 'DELETE',
    path: '/projects/:project_id/sign-ins/:sign_in_id',
    operationId: 'endSignIn',
    summary: 'End a sign-in',
    description:
      'A signed-in person is refused from the next request on; an unused URL stops working. Other projects of the ' +
      'session stay open, and other uses of the key continue: to end those too, revoke the key.',
    tag: TAG,
    access: 'key',
    params: SignInParams,
    responses: { 204: { description: 'The sign-in has ended.' } },
    errors: ['not_found', 'unavailable'],
    handle({ principal, params }) {
      signIns.end(params.project_id, params.sign_in_id, principal);
      return { status: 204 };
    },
  });
}
