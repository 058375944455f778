import { Type } from '@sinclair/typebox';
import type { IdentityService } from '../../../engine/identity/identity-service.js';
import type { SignInService } from '../../../engine/identity/sign-in-service.js';
import { MinuteLimit } from '../../../http/minute-limit.js';
import type { DeletionService } from '../../deletion/deletion-service.js';
import { DomainError } from '../../../engine/errors.js';
import type { ProjectService } from '../project-service.js';
import type { ProjectStorage } from '../project-storage.js';
import type { RetentionService } from '../../retention/retention-service.js';
import { uuid } from '../../../engine/schema/parts.js';
import { queryOf } from '../../../http/query.js';
import { defineRoute, jsonBody } from '../../../http/route.js';
import { ProjectParams } from '../../../http/parameters.js';
import { RetentionRead, retentionRead } from './retention-schema.js';
import { ProjectCreate, ProjectPatch, projectRead, ProjectRead, retentionDays, StorageRead, TAG } from './schema.js';

export interface ProjectServices {
  readonly projects: ProjectService;
  readonly projectStorage: ProjectStorage;
  readonly retention: RetentionService;
  readonly deletions: DeletionService;
  readonly identity: Pick<IdentityService, 'members'>;
  readonly signIns: Pick<SignInService, 'attach'>;
}

/** The project of a key: its name, what it stores and for how long, and its end; and how further ones begin. */
/** @param createdPerMinute projects that one user may create */
export function projectRoutes(
  { projects, projectStorage, retention, deletions, identity, signIns }: ProjectServices,
  createdPerMinute: number,
) {
  const limit = new MinuteLimit(createdPerMinute, 'new projects');
  return [
    createProjectRoute({ identity, signIns, limit }),
    getProjectRoute(projects),
    updateProjectRoute(projects),
    getStorageRoute(projectStorage),
    getRetentionRoute(retention),
    deleteProjectRoute(deletions),
  ];
}

interface CreateProjectParts extends Pick<ProjectServices, 'identity' | 'signIns'> {
  readonly limit: MinuteLimit;
}

function createProjectRoute({ identity, signIns, limit }: CreateProjectParts) {
  return defineRoute({
    method: 'POST',
    path: '/projects',
    operationId: 'createProject',
    summary: 'Create a project',
    description:
      'Creates a project, whose owner is the calling user. A session has access to it at once. An API key has not: each belongs ' +
      'to one project. A key that expires cannot create projects. A user can create ten per minute, and a server has at most ' +
      '1,000, unless more are created with `npm run admin`.',
    tag: TAG,
    access: 'key',
    body: jsonBody(ProjectCreate),
    responses: { 201: { description: 'The new project.', schema: ProjectRead } },
    errors: ['conflict', 'overloaded', 'unavailable'],
    async handle({ principal, body }) {
      await limit.take(principal.user_id);
      const { project, member } = identity.members.createProject(body.name, principal);
      if (principal.sign_in_id !== null) signIns.attach(principal.sign_in_id, member.key_id);
      return { status: 201, body: projectRead(project) };
    },
  });
}

function getProjectRoute(projects: Pick<ProjectService, 'get'>) {
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

function updateProjectRoute(projects: Pick<ProjectService, 'change'>) {
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

const ProjectDeletion = Type.Object(
  { id: uuid('The project.'), status: Type.Literal('deleting', { description: 'The project is being deleted.' }) },
  { $id: 'ProjectDeletion', description: 'A project that is being deleted.' },
);

function deleteProjectRoute(deletions: Pick<DeletionService, 'deleteProject'>) {
  return defineRoute({
    method: 'DELETE',
    path: '/projects/:project_id',
    operationId: 'deleteProject',
    summary: 'Delete a project',
    description:
      'Deletes the project with everything in it: spans, traces, sessions, prompts, judges, evaluations, feedback, ' +
      'feedback links and their reviewers, prices, jobs, API keys, roles and images. This cannot be undone. From the response on, every key and every feedback link of the project ' +
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

const Query = Type.Object({
  days: Type.Optional(retentionDays('Preview with this number of days. Default: the current setting.')),
});

function getRetentionRoute(retention: Pick<RetentionService, 'forecast'>) {
  return defineRoute({
    method: 'GET',
    path: '/projects/:project_id/retention',
    operationId: 'getRetention',
    summary: 'Preview retention',
    description:
      'Counts what the current `retention_days` would remove, or another value before you set it, and what stays ' +
      'nevertheless. Changes nothing. A trace is removed as a whole, once nothing in it is newer.',
    tag: TAG,
    access: 'key',
    params: ProjectParams,
    query: queryOf(Query),
    responses: { 200: { description: 'The preview.', schema: RetentionRead } },
    errors: ['invalid', 'not_found', 'unavailable'],
    bulk: true,
    handle: async ({ params, query, signal }) => ({
      status: 200,
      body: retentionRead(await retention.forecast(params.project_id, query.days, signal)),
    }),
  });
}

function getStorageRoute(storage: Pick<ProjectStorage, 'read'>) {
  return defineRoute({
    method: 'GET',
    path: '/projects/:project_id/storage',
    operationId: 'getProjectStorage',
    summary: 'Get the storage of a project',
    description:
      'Returns counts of spans, traces and sessions, as their lists count them with `internal=true&experiments=true`, images, and ' +
      'the oldest span. For the whole server, it returns what uses how much space, the space left on its disks, and ' +
      'how long that lasts at the rate of the last day. ClickHouse knows sizes only by table, so bytes of spans are ' +
      'estimated by the share of rows.',
    tag: TAG,
    access: 'key',
    params: ProjectParams,
    responses: { 200: { description: 'What is stored.', schema: StorageRead } },
    errors: ['unavailable'],
    bulk: true,
    handle: async ({ params, signal }) => ({ status: 200, body: await storage.read(params.project_id, signal) }),
  });
}
