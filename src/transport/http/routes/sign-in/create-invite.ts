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
    handle({ principal, params, body: { name, access = DEFAULT_KEY_ACCESS } }) {
      const invitation = signIns.invite(params.project_id, { name, access }, principal);
      return { status: 201, body: toInvitationRead(invitation, baseUrl()) };
    },
  });
}
