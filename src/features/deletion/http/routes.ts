import { Type } from '@sinclair/typebox';
import { uuid } from '../../../engine/schema/parts.js';
import { listDefinitions } from '../../../engine/traces/model/list/definitions.js';
import { invalid } from '../../../engine/validation/validation.js';
import { parseSelection } from '../../../http/list-query.js';
import { project_id, ProjectParams } from '../../../http/parameters.js';
import { defineRoute, jsonBody, listOf } from '../../../http/route.js';
import { DeletionInput, DeletionJobRead, DeletionPlanRead } from '../schema.js';
import type { SelectedDeletionService } from '../selected-deletion-service.js';
import { toDeletionRead, toPlanRead } from './presenters.js';

/** How the documentation groups these routes. */
const TAG = 'Deletions';

const JobParams = Type.Object({ project_id, job_id: uuid('Id of the job.') });

/** Deletions of what the filters of a list find. */
export function deletionRoutes(deletions: SelectedDeletionService) {
  return [
    createDeletionRoute(deletions),
    listDeletionsRoute(deletions),
    getDeletionRoute(deletions),
    cancelDeletionRoute(deletions),
  ];
}

function createDeletionRoute(deletions: Pick<SelectedDeletionService, 'plan' | 'start'>) {
  return defineRoute({
    method: 'POST',
    path: '/projects/:project_id/deletions',
    operationId: 'createDeletion',
    summary: 'Delete what filters find',
    description:
      'Takes two calls. With `dry_run`, `list` and `query`, it counts what the filters find, deletes nothing, and returns ' +
      '`confirm`. With that `confirm`, it queues a job that deletes just what was found, as `DELETE` of each object would, ' +
      'with everything below it. What arrives after the dry run stays: new objects, and traces and sessions as a whole that ' +
      'anything was written to since. The job resumes after a restart. This cannot be undone.',
    tag: TAG,
    access: 'key',
    // Counting by filters tells what texts hold.
    scopes: ['admin', 'spans:read'],
    bulk: true,
    params: ProjectParams,
    body: jsonBody(DeletionInput),
    responses: {
      200: { description: 'What the dry run found.', schema: DeletionPlanRead },
      202: { description: 'The job.', schema: DeletionJobRead },
    },
    errors: ['invalid', 'conflict', 'unavailable'],
    async handle({ principal, params, body: { dry_run, list, query, confirm }, signal }) {
      const isDryRun = dry_run ?? false;
      if (isDryRun === (confirm != null))
        throw invalid([{ pointer: '/confirm', detail: 'must be given, or `dry_run: true`, but not both' }]);
      if (confirm == null) {
        if (list == null) throw invalid([{ pointer: '/list', detail: 'must be given for a dry run' }]);
        const text = query ?? '';
        const asked = { query: parseSelection(listDefinitions[list], new URLSearchParams(text)), text };
        return { status: 200, body: toPlanRead(await deletions.plan(principal.project_id, list, asked, signal)) };
      }
      if (list != null || query != null)
        throw invalid([{ pointer: list == null ? '/query' : '/list', detail: 'must be absent with `confirm`' }]);
      const created = toDeletionRead(deletions.start(principal, confirm));
      const location = `/projects/${params.project_id}/deletions/${created.id}`;
      return { status: 202, headers: { Location: location }, body: created };
    },
  });
}

function listDeletionsRoute(deletions: Pick<SelectedDeletionService, 'list'>) {
  return defineRoute({
    method: 'GET',
    path: '/projects/:project_id/deletions',
    operationId: 'listDeletions',
    summary: 'List the deletions by filters',
    description: 'Returns the newest hundred jobs that delete what filters found, newest first.',
    tag: TAG,
    access: 'key',
    params: ProjectParams,
    responses: { 200: listOf(DeletionJobRead, 'The jobs.') },
    errors: ['unavailable'],
    handle: ({ params }) => ({ status: 200, body: deletions.list(params.project_id).map(toDeletionRead) }),
  });
}

function getDeletionRoute(deletions: Pick<SelectedDeletionService, 'get'>) {
  return defineRoute({
    method: 'GET',
    path: '/projects/:project_id/deletions/:job_id',
    operationId: 'getDeletion',
    summary: 'Get a deletion by filters',
    description: 'Returns state and progress of a job that deletes what filters found.',
    tag: TAG,
    access: 'key',
    params: JobParams,
    responses: { 200: { description: 'The job.', schema: DeletionJobRead } },
    errors: ['not_found', 'unavailable'],
    handle: ({ params: { project_id, job_id } }) => ({
      status: 200,
      body: toDeletionRead(deletions.get(project_id, job_id)),
    }),
  });
}

function cancelDeletionRoute(deletions: Pick<SelectedDeletionService, 'cancel'>) {
  return defineRoute({
    method: 'POST',
    path: '/projects/:project_id/deletions/:job_id:cancel',
    operationId: 'cancelDeletion',
    summary: 'Cancel a deletion by filters',
    description:
      'Completes the current portion, which may be thousands of objects, then stops. What is deleted does not come ' +
      'back. A job that has ended cannot be canceled (409).',
    tag: TAG,
    access: 'key',
    params: JobParams,
    responses: { 200: { description: 'The canceled job.', schema: DeletionJobRead } },
    errors: ['not_found', 'conflict', 'unavailable'],
    handle: ({ principal, params: { job_id } }) => ({
      status: 200,
      body: toDeletionRead(deletions.cancel(principal, job_id)),
    }),
  });
}
