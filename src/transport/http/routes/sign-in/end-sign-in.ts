import type { SignInService } from '../../../../domain/identity/sign-in-service.js';
import { defineRoute, type Route } from '../../route.js';
import { SignInParams, TAG } from './schema.js';

export function endSignInRoute(signIns: Pick<SignInService, 'end'>): Route {
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
