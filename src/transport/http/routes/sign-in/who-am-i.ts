import type { IncomingHttpHeaders } from 'node:http';
import type { Identity, Principal } from '../../../../domain/identity/identity.js';
import type { IdentityService } from '../../../../domain/identity/identity-service.js';
import type { SignInService } from '../../../../domain/identity/sign-in-service.js';
import { PROJECT_HEADER, type Callers } from '../../callers.js';
import { defineRoute, type Route } from '../../route.js';
import { named } from './presenters.js';
import { TAG, WhoAmI, type Capabilities } from './schema.js';

export interface WhoAmIParts {
  readonly identity: Pick<IdentityService, 'describe'>;
  readonly signIns: Pick<SignInService, 'projectsOf'>;
  readonly callers: Pick<Callers, 'session'>;
  readonly version: string;
  readonly capabilities: Capabilities;
}

export function whoAmIRoute({ identity, signIns, callers, version, capabilities }: WhoAmIParts): Route {
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
    purpose: 'identify',
    anyProject: true,
    responses: { 200: { description: 'User, project and key of the request.', schema: WhoAmI } },
    errors: ['unavailable'],
    handle({ principal, headers }) {
      const { user, project, key } = identity.describe(principal);
      const body: WhoAmI = {
        user: named(user),
        project: named(project),
        key: { ...named(key), access: key.access },
        projects: projectsOf(principal, headers, project).map(named),
        version,
        capabilities,
      };
      return { status: 200, body };
    },
  });
}
