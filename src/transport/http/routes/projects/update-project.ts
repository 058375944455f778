import type { ProjectService } from '../../../../domain/project/project-service.js';
import { defineRoute, jsonBody, type Route } from '../../route.js';
import { ProjectParams } from '../parameters.js';
import { ProjectPatch, projectRead, ProjectRead, TAG } from './schema.js';

export function updateProjectRoute(projects: Pick<ProjectService, 'rename'>): Route {
  return defineRoute({
    method: 'PATCH',
    path: '/projects/:project_id',
    operationId: 'updateProject',
    summary: 'Rename a project',
    description: 'Gives the project another name; its id stays.',
    tag: TAG,
    access: 'key',
    params: ProjectParams,
    body: jsonBody(ProjectPatch),
    responses: { 200: { description: 'The project.', schema: ProjectRead } },
    errors: ['not_found', 'unavailable'],
    handle: ({ params, body }) => ({ status: 200, body: projectRead(projects.rename(params.project_id, body.name)) }),
  });
}
