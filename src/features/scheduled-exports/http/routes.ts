import { Type } from '@sinclair/typebox';
import { requireScopes, type Scope } from '../../../engine/identity/scopes.js';
import { uuid } from '../../../engine/schema/parts.js';
import { formatOptionalTimestamp, formatTimestamp } from '../../../engine/timestamp.js';
import { project_id, ProjectParams } from '../../../http/parameters.js';
import { defineRoute, jsonBody, listOf } from '../../../http/route.js';
import { QUERIES } from './queries.js';
import type { Schedule, ScheduledList } from '../schedule.js';
import type { ScheduleService } from '../schedule-service.js';
import { ScheduledExportInput, ScheduledExportPatch, ScheduledExportRead } from '../schema.js';

/** How the documentation groups these routes. */
const TAG = 'Scheduled exports';

/** Scopes that a caller needs to export each list. */
const NEEDED: Readonly<Record<ScheduledList, readonly Scope[]>> = {
  ...{ spans: ['spans:read'], traces: ['spans:read'], sessions: ['spans:read'] },
  ...{ scores: ['scores:read'], feedback: ['feedback:read'] },
};

const Params = Type.Object({ project_id, export_id: uuid('Id of the scheduled export.') });

/** Exports of lists to the operator's bucket, every so often. */
export function scheduledExportRoutes(schedules: ScheduleService) {
  return [
    createRoute(schedules),
    listRoute(schedules),
    getRoute(schedules),
    updateRoute(schedules),
    runRoute(schedules),
    deleteRoute(schedules),
  ];
}

function createRoute(schedules: Pick<ScheduleService, 'create'>) {
  return defineRoute({
    method: 'POST',
    path: '/projects/:project_id/scheduled-exports',
    operationId: 'createScheduledExport',
    summary: 'Schedule an export',
    description:
      "Exports a list to the operator's bucket, below a folder of the project. The first object has everything that is stored, " +
      'each further one what was written since. Each version of a row is in one object. The key needs a scope that reads the list, ' +
      'such as `spans:read`, `scores:read` or `feedback:read`. Returns 409 if the operator has set no bucket.',
    tag: TAG,
    access: 'key',
    scopes: ['admin'],
    params: ProjectParams,
    body: jsonBody(ScheduledExportInput),
    responses: { 201: { description: 'The scheduled export.', schema: ScheduledExportRead } },
    errors: ['invalid', 'forbidden', 'conflict', 'unavailable'],
    handle({ principal, params, body: { name, list, query, format, every_minutes } }) {
      const text = query ?? '';
      requireScopes(principal, NEEDED[list]);
      QUERIES[list](text);
      const draft = { name, list, query: text, format: format ?? 'jsonl', every_minutes } as const;
      const created = toRead(schedules.create(principal, draft));
      const location = `/projects/${params.project_id}/scheduled-exports/${created.id}`;
      return { status: 201, headers: { Location: location }, body: created };
    },
  });
}

function listRoute(schedules: Pick<ScheduleService, 'list'>) {
  return defineRoute({
    method: 'GET',
    path: '/projects/:project_id/scheduled-exports',
    operationId: 'listScheduledExports',
    summary: 'List scheduled exports',
    description: 'Returns all scheduled exports of the project, the oldest first.',
    tag: TAG,
    access: 'key',
    params: ProjectParams,
    responses: { 200: listOf(ScheduledExportRead, 'The scheduled exports.') },
    errors: ['unavailable'],
    handle: ({ params }) => ({ status: 200, body: schedules.list(params.project_id).map(toRead) }),
  });
}

function getRoute(schedules: Pick<ScheduleService, 'get'>) {
  return defineRoute({
    method: 'GET',
    path: '/projects/:project_id/scheduled-exports/:export_id',
    operationId: 'getScheduledExport',
    summary: 'Get a scheduled export',
    description: 'Returns a scheduled export: how far it is, and why it failed if it did.',
    tag: TAG,
    access: 'key',
    params: Params,
    responses: { 200: { description: 'The scheduled export.', schema: ScheduledExportRead } },
    errors: ['not_found', 'unavailable'],
    handle: ({ params }) => ({ status: 200, body: toRead(schedules.get(params.project_id, params.export_id)) }),
  });
}

function updateRoute(schedules: Pick<ScheduleService, 'change'>) {
  return defineRoute({
    method: 'PATCH',
    path: '/projects/:project_id/scheduled-exports/:export_id',
    operationId: 'updateScheduledExport',
    summary: 'Update a scheduled export',
    description:
      'Renames it, changes how often it runs, pauses or resumes it. What it exports does not change: create another one.',
    tag: TAG,
    access: 'key',
    params: Params,
    body: jsonBody(ScheduledExportPatch),
    responses: { 200: { description: 'The scheduled export.', schema: ScheduledExportRead } },
    errors: ['not_found', 'unavailable'],
    handle: ({ principal, params, body }) => ({
      status: 200,
      body: toRead(schedules.change(principal, params.export_id, body)),
    }),
  });
}

function runRoute(schedules: Pick<ScheduleService, 'run'>) {
  return defineRoute({
    method: 'POST',
    path: '/projects/:project_id/scheduled-exports/:export_id:run',
    operationId: 'runScheduledExport',
    summary: 'Run a scheduled export now',
    description: 'Makes the next object now, also where attempts failed. Returns 409 while it is paused.',
    tag: TAG,
    access: 'key',
    params: Params,
    responses: { 200: { description: 'The scheduled export.', schema: ScheduledExportRead } },
    errors: ['not_found', 'conflict', 'unavailable'],
    handle: ({ principal, params }) => ({ status: 200, body: toRead(schedules.run(principal, params.export_id)) }),
  });
}

function deleteRoute(schedules: Pick<ScheduleService, 'remove'>) {
  return defineRoute({
    method: 'DELETE',
    path: '/projects/:project_id/scheduled-exports/:export_id',
    operationId: 'deleteScheduledExport',
    summary: 'Delete a scheduled export',
    description: 'Ends the export. Its objects stay in the bucket.',
    tag: TAG,
    access: 'key',
    params: Params,
    responses: { 204: { description: 'The scheduled export is deleted.' } },
    errors: ['not_found', 'unavailable'],
    handle({ principal, params }) {
      schedules.remove(principal, params.export_id);
      return { status: 204 };
    },
  });
}

function toRead(schedule: Schedule): ScheduledExportRead {
  const { id, name, list, query, format, every_minutes, paused, objects, rows, last_object, failures, error } =
    schedule;
  return {
    ...{ id, name, list, query, format, every_minutes, paused, objects, rows, last_object, failures, error },
    next_at: formatTimestamp(schedule.next_at),
    last_at: formatOptionalTimestamp(schedule.last_at),
    created_at: formatTimestamp(schedule.created_at),
    created_by: schedule.created_by,
  };
}
