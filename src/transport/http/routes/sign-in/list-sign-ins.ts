import type { SignInService } from '../../../../domain/identity/sign-in-service.js';
import { defineRoute, listOf, type Route } from '../../route.js';
import { pageOfThousand, ProjectParams } from '../parameters.js';
import { toSignInRead } from './presenters.js';
import { SignInRead, TAG } from './schema.js';

export function listSignInsRoute(signIns: Pick<SignInService, 'list'>): Route {
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
