import { Type } from '@sinclair/typebox';
import type { DeletionService } from '../../../../domain/deletion/deletion-service.js';
import { DomainError } from '../../../../domain/errors.js';
import { uuid } from '../../../../domain/schema/parts.js';
import { defineRoute, type Route } from '../../route.js';
import { ProjectParams } from '../parameters.js';
import { TAG } from './schema.js';

const ProjectDeletion = Type.Object(
  { id: uuid('The project.'), status: Type.Literal('deleting', { description: 'The project is being deleted.' }) },
  { $id: 'ProjectDeletion', description: 'A project that is being deleted.' },
);

export function deleteProjectRoute(deletions: Pick<DeletionService, 'deleteProject'>): Route {
  return defineRoute({
    method: 'DELETE',
    path: '/projects/:project_id',
    operationId: 'deleteProject',
    summary: 'Delete a project',
    description:
      'Deletes the project with everything in it: spans, traces, sessions, prompts, judges, evaluations, feedback, ' +
      'feedback links and their reviewers, prices, jobs, API keys and images. This cannot be undone. It requires a ' +
      'key of this project with full access. From the response on, every key and every feedback link of the project ' +
      'is refused. Stored data is deleted within seconds, unless there are many millions of spans; if the server ' +
      'stops meanwhile, the next start resumes the deletion. Users are kept, because they do not belong to a ' +
      'project.',
    tag: TAG,
    access: 'key',
    params: ProjectParams,
    responses: { 202: { description: 'The project is being deleted.', schema: ProjectDeletion } },
    errors: ['not_found', 'unavailable'],
    handle({ principal }) {
      const { project_id } = principal;
      if (!deletions.deleteProject(project_id, principal))
        throw new DomainError('not_found', 'There is no project with this id');
      return { status: 202, body: { id: project_id, status: 'deleting' as const } };
    },
  });
}
