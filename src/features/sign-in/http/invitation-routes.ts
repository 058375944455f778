import { DomainError } from '../../../engine/errors.js';
import type { InvitationService } from '../../../engine/identity/invitation-service.js';
import { DEFAULT_ROLE, type Role } from '../../../engine/identity/roles.js';
import { invalid } from '../../../engine/validation/validation.js';
import type { Callers } from '../../../http/callers.js';
import type { MinuteLimit } from '../../../http/minute-limit.js';
import { ProjectParams } from '../../../http/parameters.js';
import { defineRoute, jsonBody } from '../../../http/route.js';
import type { SignInAttempts } from './attempts.js';
import { requestOf } from './origin.js';
import { toInvitationRead } from './presenters.js';
import { Invitation, InvitationCode, Invite, JoinedProject, TAG } from './schema.js';

export interface InvitationRoutesParts {
  readonly invitations: InvitationService;
  readonly callers: Pick<Callers, 'session'>;
  readonly baseUrl: () => string;
  readonly trustedProxies: number;
  /** Failed attempts of one address. */
  readonly attempts: SignInAttempts;
  /** Invitations of one project. */
  readonly invites: MinuteLimit;
}

/** Inviting people, and taking an invitation. */
export function invitationRoutes(parts: InvitationRoutesParts) {
  return [createInviteRoute(parts), joinProjectRoute(parts)];
}

function createInviteRoute({ invitations, baseUrl, invites }: InvitationRoutesParts) {
  return defineRoute({
    method: 'POST',
    path: '/projects/:project_id/invites',
    operationId: 'inviteColleague',
    summary: 'Invite a colleague',
    description:
      'Creates a user with a role in the project, and a URL that works once, within one hour. It signs in the new user; ' +
      'a person who is signed in already can join the project with that account instead. If the URL is not used in time, ' +
      'the user is removed. No one can give a role above their own, or one with scopes that their key lacks. A project can ' +
      'have at most 100 unused invitations, and create ten per minute.',
    tag: TAG,
    access: 'key',
    params: ProjectParams,
    body: jsonBody(Invite),
    responses: { 201: { description: 'The invitation.', schema: Invitation } },
    errors: ['conflict', 'unavailable'],
    admit: ({ params }) => invites.take(params.project_id),
    handle({ principal, params, body }) {
      const invitation = invitations.invite(params.project_id, { name: body.name, role: roleOf(body) }, principal);
      return { status: 201, body: toInvitationRead(invitation, baseUrl()) };
    },
  });
}

/** @throws DomainError `invalid` */
function roleOf({ role, access }: Pick<Invite, 'role' | 'access'>): Role {
  if (access === undefined) return role ?? DEFAULT_ROLE;
  if (role !== undefined) throw invalid([{ pointer: '/access', detail: 'cannot be used with role' }]);
  return access === 'full' ? 'admin' : 'viewer';
}

function joinProjectRoute({ invitations, callers, attempts, trustedProxies }: InvitationRoutesParts) {
  return defineRoute({
    method: 'POST',
    path: '/console/session:join',
    operationId: 'joinProject',
    summary: 'Join a project by an invitation',
    description:
      'Accepts an invitation as the user of the cookie, with its role, instead of signing in as a new user. The session ' +
      'has access to the project from then on. Failed attempts count toward the limit for signing in.',
    tag: TAG,
    access: 'public',
    body: { ...jsonBody(InvitationCode), maxBytes: 4096 },
    responses: { 200: { description: 'The project.', schema: JoinedProject } },
    errors: ['unauthenticated', 'forbidden', 'conflict', 'unavailable'],
    admit: (opening) => attempts.requireOwnPage(opening),
    async handle({ body: { code }, headers, remoteAddress, requestId }) {
      const session = callers.session(headers);
      if (session === undefined) throw new DomainError('unauthenticated', 'Sign in first');
      const project = await attempts.try({ headers, remoteAddress }, () =>
        invitations.join(session, code, requestOf({ headers, remoteAddress, requestId }, trustedProxies)),
      );
      return { status: 200, body: project };
    },
  });
}
