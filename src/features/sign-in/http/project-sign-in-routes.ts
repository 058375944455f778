import type { SignInService } from '../../../engine/identity/sign-in-service.js';
import { MemberParams, pageOfThousand, ProjectParams } from '../../../http/parameters.js';
import { defineRoute, listOf } from '../../../http/route.js';
import { toSignInRead } from './presenters.js';
import { SignInParams, SignInRead, TAG } from './schema.js';

/** Who is signed in to a project. */
export function projectSignInRoutes(signIns: SignInService) {
  return [listSignInsRoute(signIns), endSignInRoute(signIns), endMemberSignInsRoute(signIns)];
}

function listSignInsRoute(signIns: Pick<SignInService, 'list'>) {
  return defineRoute({
    method: 'GET',
    path: '/projects/:project_id/sign-ins',
    operationId: 'listSignIns',
    summary: 'List sign-ins',
    description:
      'Returns who is signed in to the project, and the unused sign-in URLs, newest first. Secrets are not shown. Only a key or ' +
      'person with the scope `admin` is told addresses.',
    tag: TAG,
    access: 'key',
    params: ProjectParams,
    query: pageOfThousand,
    responses: { 200: listOf(SignInRead, 'The sign-ins.') },
    errors: ['unavailable'],
    handle: ({ principal, params, query }) => ({
      status: 200,
      body: signIns.list(params.project_id, query).map((signIn) => toSignInRead(signIn, principal)),
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
      'session stay open, and other uses of the key continue: to end those too, revoke the key, or remove the person. ' +
      'No one can end the sign-in of a person whose role is above their own.',
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

function endMemberSignInsRoute(signIns: Pick<SignInService, 'endAllOf'>) {
  return defineRoute({
    method: 'DELETE',
    path: '/projects/:project_id/members/:user_id/sign-ins',
    operationId: 'endMemberSignIns',
    summary: 'End all sessions of a person',
    description:
      'Ends what the sessions of the person open of this project. Their other projects, their role and their API keys do not change.',
    tag: TAG,
    access: 'key',
    params: MemberParams,
    responses: { 204: { description: 'The sessions have ended.' } },
    errors: ['not_found', 'unavailable'],
    handle({ principal, params }) {
      signIns.endAllOf(params.project_id, params.user_id, principal);
      return { status: 204 };
    },
  });
}
