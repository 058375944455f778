import { DEFAULT_KEY_ACCESS } from '../../../../domain/identity/key-access.js';
import type { SignInService } from '../../../../domain/identity/sign-in-service.js';
import type { MinuteLimit } from '../../minute-limit.js';
import { defineRoute, jsonBody, type Route } from '../../route.js';
import { ProjectParams } from '../parameters.js';
import { toInvitationRead } from './presenters.js';
import { Invitation, Invite, TAG } from './schema.js';

export interface CreateInviteParts {
  readonly signIns: Pick<SignInService, 'invite'>;
  readonly baseUrl: () => string;
  /** Invitations of one project. */
  readonly attempts: MinuteLimit;
}

export function createInviteRoute({ signIns, baseUrl, attempts }: CreateInviteParts): Route {
  return defineRoute({
    method: 'POST',
    path: '/projects/:project_id/invites',
    operationId: 'inviteColleague',
    summary: 'Invite a colleague',
    description:
      'Makes a user of their own for a colleague, with an API key of the project that nobody sees, and a URL that signs them in once, within ' +
      'the hour. A URL that is not used in time takes user and key with it. A project has at most 100 that are not used yet, and makes ten a minute.',
    tag: TAG,
    access: 'key',
    params: ProjectParams,
    body: jsonBody(Invite),
    responses: { 201: { description: 'The invitation.', schema: Invitation } },
    errors: ['conflict', 'unavailable'],
    admit: ({ params }) => attempts.take(params.project_id),
    handle({ principal, params, body: { name, access = DEFAULT_KEY_ACCESS } }) {
      const invitation = signIns.invite(params.project_id, { name, access }, principal);
      return { status: 201, body: toInvitationRead(invitation, baseUrl()) };
    },
  });
}
