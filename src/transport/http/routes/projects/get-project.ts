import type { ProjectService } from '../../../../domain/project/project-service.js';
import { defineRoute, type Route } from '../../route.js';
import { ProjectParams } from '../parameters.js';
import { projectRead, ProjectRead, TAG } from './schema.js';

export function getProjectRoute(projects: Pick<ProjectService, 'get'>): Route {
  return defineRoute({
    method: 'GET',
    path: '/projects/:project_id',
    operationId: 'getProject',
    summary: 'Get a project',
    description: 'Returns the project of the key.',
    tag: TAG,
    access: 'key',
    params: ProjectParams,
    responses: { 200: { description: 'The project.', schema: ProjectRead } },
    errors: ['not_found', 'unavailable'],
    handle: ({ params }) => ({ status: 200, body: projectRead(projects.get(params.project_id)) }),
  });
}
