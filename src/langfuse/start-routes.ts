import { Type } from '@sinclair/typebox';
import { uuid } from '../engine/schema/parts.js';
import type { ProjectService } from '../features/projects/project-service.js';
import { defineRoute } from '../http/route.js';
import { renderError } from './errors.js';
import { TAG } from './tag.js';

const Health = Type.Object(
  {
    status: Type.Literal('OK', { description: 'The process is up.' }),
    version: Type.String({ description: 'Version of the server.' }),
  },
  { description: 'Liveness.' },
);

const Named = { id: uuid('Id of the project.'), name: Type.String({ description: 'Name of the project.' }) };
const Projects = Type.Object(
  {
    data: Type.Array(
      Type.Object({
        ...Named,
        organization: Type.Object(Named, { description: 'The same: each project is an organization of its own.' }),
        metadata: Type.Record(Type.String(), Type.Unknown(), { description: 'Empty.' }),
      }),
      { description: 'The project of the key.' },
    ),
  },
  { $id: 'LangfuseProjects', description: 'The project of the key, as clients of Langfuse read it.' },
);

/** What clients ask first: whether the server is up, and whose keys they have. */
export function startRoutes(projects: Pick<ProjectService, 'get'>, version: string) {
  return [
    defineRoute({
      method: 'GET',
      path: '/api/public/health',
      operationId: 'getLangfuseHealth',
      summary: 'Check whether the process is up (Langfuse)',
      description: 'Responds without using a store.',
      tag: TAG,
      access: 'public',
      responses: { 200: { description: 'The process is up.', schema: Health } },
      errors: [],
      renderError,
      handle: () => ({ status: 200, body: { status: 'OK' as const, version } }),
    }),
    defineRoute({
      method: 'GET',
      path: '/api/public/projects',
      operationId: 'listLangfuseProjects',
      summary: 'Get the project of the keys (Langfuse)',
      description:
        'Returns the project of the keys. Langfuse clients call this to check their keys and to build links to traces.',
      tag: TAG,
      access: 'key',
      scopes: [],
      responses: { 200: { description: 'The project of the key.', schema: Projects } },
      errors: ['not_found', 'unavailable'],
      renderError,
      handle({ principal }) {
        const { id, name } = projects.get(principal.project_id);
        return { status: 200, body: { data: [{ id, name, organization: { id, name }, metadata: {} }] } };
      },
    }),
  ];
}
