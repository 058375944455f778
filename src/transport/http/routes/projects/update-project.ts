import type { ProjectService } from '../../../../domain/project/project-service.js';
import { defineRoute, jsonBody, type Route } from '../../route.js';
import { ProjectParams } from '../parameters.js';
import { ProjectPatch, projectRead, ProjectRead, TAG } from './schema.js';

export function updateProjectRoute(projects: Pick<ProjectService, 'change'>): Route {
  return defineRoute({
    method: 'PATCH',
    path: '/projects/:project_id',
    operationId: 'updateProject',
    summary: 'Update a project',
    description:
      'Renames the project, or sets how long it keeps its traces; its id does not change. A shorter ' +
      '`retention_days` permanently removes older traces the next time the server looks (`GET …/retention` previews ' +
      'what and when).',
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
