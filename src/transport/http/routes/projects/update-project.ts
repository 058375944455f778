import type { ProjectService } from '../../../../domain/project/project-service.js';
import { defineRoute, jsonBody, type Route } from '../../route.js';
import { ProjectParams } from '../parameters.js';
import { ProjectPatch, projectRead, ProjectRead, TAG } from './schema.js';

export function updateProjectRoute(projects: Pick<ProjectService, 'change'>): Route {
  return defineRoute({
    method: 'PATCH',
    path: '/projects/:project_id',
    operationId: 'updateProject',
    summary: 'Change a project',
    description:
      'Gives the project another name, or says for how long it keeps its traces; its id stays. A shorter `retention_days` removes what is ' +
      'older with the next look (`GET …/retention` says what that would be, and when it is), for good.',
    tag: TAG,
    access: 'key',
    params: ProjectParams,
    body: jsonBody(ProjectPatch),
    responses: { 200: { description: 'The project.', schema: ProjectRead } },
    errors: ['not_found', 'unavailable'],
    handle: ({ principal, params, body }) => ({
      status: 200,
      body: projectRead(projects.change(params.project_id, body, principal)),
    }),
  });
}
