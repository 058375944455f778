import { Type } from '@sinclair/typebox';
import { DomainError } from '../../../engine/errors.js';
import { uuid } from '../../../engine/schema/parts.js';
import { defineRoute, listOf } from '../../../http/route.js';
import type { ProjectService } from '../project-service.js';
import { TAG } from './schema.js';

const Named = Type.Object(
  { id: uuid('Id of the project.'), name: Type.String({ description: 'Name of the project.' }) },
  { $id: 'Organization', description: 'The project of the key.' },
);

/** What clients ask for that know of organizations above projects: here, each project is one of its own. */
export function organizationRoutes(projects: Pick<ProjectService, 'get'>) {
  const ofKey = (projectId: string) => {
    const { id, name } = projects.get(projectId);
    return [{ id, name }];
  };
  return [
    defineRoute({
      method: 'GET',
      path: '/organizations/my',
      operationId: 'listOrganizations',
      summary: 'List organizations',
      description: 'Returns the project of the key, for clients that look for the organization that it is in.',
      tag: TAG,
      access: 'key',
      responses: { 200: listOf(Named, 'The project of the key.') },
      errors: ['unavailable'],
      handle: ({ principal }) => ({ status: 200, body: ofKey(principal.project_id) }),
    }),
    defineRoute({
      method: 'GET',
      path: '/organizations/:organization_id/projects',
      operationId: 'listOrganizationProjects',
      summary: 'List projects of an organization',
      description: 'Returns the project of the key.',
      tag: TAG,
      access: 'key',
      params: Type.Object({ organization_id: uuid('Id that `/organizations/my` returned.') }),
      responses: { 200: listOf(Named, 'The project of the key.') },
      errors: ['not_found', 'unavailable'],
      handle({ principal, params }) {
        if (params.organization_id !== principal.project_id)
          throw new DomainError('not_found', 'The key belongs to no organization with this id');
        return { status: 200, body: ofKey(principal.project_id) };
      },
    }),
  ];
}
