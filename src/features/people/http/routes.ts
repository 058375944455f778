import type { MemberService } from '../../../engine/identity/member-service.js';
import { MemberParams, pageOfThousand, ProjectParams } from '../../../http/parameters.js';
import { defineRoute, jsonBody, listOf } from '../../../http/route.js';
import { MemberPatch, MemberRead, memberRead, TAG } from './schema.js';

/** People of a project, and their roles. */
export function peopleRoutes(members: MemberService) {
  return [listMembersRoute(members), updateMemberRoute(members), removeMemberRoute(members)];
}

function listMembersRoute(members: Pick<MemberService, 'list'>) {
  return defineRoute({
    method: 'GET',
    path: '/projects/:project_id/members',
    operationId: 'listMembers',
    summary: 'List the people of the project',
    description:
      'Returns the people of the project with their roles, in the order in which they came. A project has at most 1,000.',
    tag: TAG,
    access: 'key',
    params: ProjectParams,
    query: pageOfThousand,
    responses: { 200: listOf(MemberRead, 'The people.') },
    errors: ['unavailable'],
    handle: ({ params, query }) => ({ status: 200, body: members.list(params.project_id, query).map(memberRead) }),
  });
}

function updateMemberRoute(members: Pick<MemberService, 'changeRole'>) {
  return defineRoute({
    method: 'PATCH',
    path: '/projects/:project_id/members/:user_id',
    operationId: 'updateMember',
    summary: 'Change the role of a person',
    description:
      'Takes effect with the next request of the person, of their sessions and of their API keys: no key has scopes that the ' +
      'role of its user lacks. No one can give a role above their own, or change a person whose role is above it. A ' +
      'project keeps at least one owner.',
    tag: TAG,
    access: 'key',
    params: MemberParams,
    body: jsonBody(MemberPatch),
    responses: { 200: { description: 'The person.', schema: MemberRead } },
    errors: ['not_found', 'conflict', 'unavailable'],
    handle: ({ principal, params, body }) => ({
      status: 200,
      body: memberRead(members.changeRole(params.project_id, params.user_id, body.role, principal)),
    }),
  });
}

function removeMemberRoute(members: Pick<MemberService, 'remove'>) {
  return defineRoute({
    method: 'DELETE',
    path: '/projects/:project_id/members/:user_id',
    operationId: 'removeMember',
    summary: 'Remove a person from the project',
    description:
      'Revokes every API key of the person in the project, also those that programs use, and takes the project from their sessions. What ' +
      'they wrote stays, with their name. No one can remove a person whose role is above their own. A project keeps at ' +
      'least one owner.',
    tag: TAG,
    access: 'key',
    params: MemberParams,
    responses: { 204: { description: 'The person is removed.' } },
    errors: ['not_found', 'conflict', 'unavailable'],
    handle({ principal, params }) {
      members.remove(params.project_id, params.user_id, principal);
      return { status: 204 };
    },
  });
}
