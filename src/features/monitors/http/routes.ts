import { Type } from '@sinclair/typebox';
import { uuid } from '../../../engine/schema/parts.js';
import { page } from '../../../http/page.js';
import { project_id, ProjectParams } from '../../../http/parameters.js';
import { queryOf } from '../../../http/query.js';
import { defineRoute, jsonBody, listOf } from '../../../http/route.js';
import { MAX_CHANGES } from '../monitor.js';
import type { MonitorService } from '../monitor-service.js';
import { ConditionInput, LookBackRead, MonitorInput, MonitorPatch, MonitorRead, StateChangeRead } from '../schema.js';
import { toChangeRead, toLookBackRead, toMonitorRead } from './presenters.js';

/** How the documentation groups these routes. */
const TAG = 'Monitors';

const Params = Type.Object({ project_id, monitor_id: uuid('Id of the monitor.') });
const MONITOR = { 200: { description: 'The monitor.', schema: MonitorRead } };

/** Monitors: conditions that are checked all the time. */
export function monitorRoutes(monitors: MonitorService) {
  return [
    createRoute(monitors),
    listRoute(monitors),
    testRoute(monitors),
    getRoute(monitors),
    updateRoute(monitors),
    deleteRoute(monitors),
    historyRoute(monitors),
  ];
}

function createRoute(monitors: Pick<MonitorService, 'create'>) {
  return defineRoute({
    method: 'POST',
    path: '/projects/:project_id/monitors',
    operationId: 'createMonitor',
    summary: 'Create a monitor',
    description:
      'A monitor fires when a value passes a threshold. It notifies destinations then, and again when it recovers. Values are those ' +
      'of `:stats`, a score, a judge or feedback, over a window that ends at each check.',
    tag: TAG,
    access: 'key',
    scopes: ['monitors:write', 'spans:read'],
    params: ProjectParams,
    body: jsonBody(MonitorInput),
    responses: { 201: { description: 'The monitor.', schema: MonitorRead } },
    errors: ['invalid', 'conflict', 'unavailable'],
    handle({ principal, params, body }) {
      const created = toMonitorRead(monitors.create(principal, body));
      const headers = { Location: `/projects/${params.project_id}/monitors/${created.id}` };
      return { status: 201, headers, body: created };
    },
  });
}

function listRoute(monitors: Pick<MonitorService, 'list'>) {
  return defineRoute({
    method: 'GET',
    path: '/projects/:project_id/monitors',
    operationId: 'listMonitors',
    summary: 'List monitors',
    description: 'Returns all monitors of the project with their states, the oldest first.',
    tag: TAG,
    access: 'key',
    params: ProjectParams,
    responses: { 200: listOf(MonitorRead, 'The monitors.') },
    errors: ['unavailable'],
    handle: ({ params }) => ({ status: 200, body: monitors.list(params.project_id).map(toMonitorRead) }),
  });
}

function testRoute(monitors: Pick<MonitorService, 'test'>) {
  return defineRoute({
    method: 'POST',
    path: '/projects/:project_id/monitors:test',
    operationId: 'testMonitor',
    summary: 'Test a monitor',
    description:
      'Checks a condition as of each check of the last 30 days, and returns when a monitor with it would have fired. Nothing is stored. ' +
      'Feedback counts at the time of its last change.',
    tag: TAG,
    access: 'key',
    bulk: true,
    scopes: ['monitors:read', 'spans:read'],
    params: ProjectParams,
    body: jsonBody(ConditionInput),
    responses: { 200: { description: 'When the monitor would have fired.', schema: LookBackRead } },
    errors: ['invalid', 'overloaded', 'unavailable'],
    handle: async ({ params, body, signal }) => ({
      status: 200,
      body: toLookBackRead(await monitors.test(params.project_id, body, signal)),
    }),
  });
}

function getRoute(monitors: Pick<MonitorService, 'get'>) {
  return defineRoute({
    method: 'GET',
    path: '/projects/:project_id/monitors/:monitor_id',
    operationId: 'getMonitor',
    summary: 'Get a monitor',
    description: 'Returns a monitor: its state, since when it has it, and the last value.',
    tag: TAG,
    access: 'key',
    params: Params,
    responses: MONITOR,
    errors: ['not_found', 'unavailable'],
    handle: ({ params }) => ({ status: 200, body: toMonitorRead(monitors.get(params.project_id, params.monitor_id)) }),
  });
}

function updateRoute(monitors: Pick<MonitorService, 'change'>) {
  return defineRoute({
    method: 'PATCH',
    path: '/projects/:project_id/monitors/:monitor_id',
    operationId: 'updateMonitor',
    summary: 'Update a monitor',
    description: 'Renames, mutes, enables or disables the monitor, or replaces its condition.',
    tag: TAG,
    access: 'key',
    scopes: ['monitors:write', 'spans:read'],
    params: Params,
    body: jsonBody(MonitorPatch),
    responses: MONITOR,
    errors: ['invalid', 'not_found', 'unavailable'],
    handle: ({ principal, params, body }) => ({
      status: 200,
      body: toMonitorRead(monitors.change(principal, params.monitor_id, body)),
    }),
  });
}

function deleteRoute(monitors: Pick<MonitorService, 'remove'>) {
  return defineRoute({
    method: 'DELETE',
    path: '/projects/:project_id/monitors/:monitor_id',
    operationId: 'deleteMonitor',
    summary: 'Delete a monitor',
    description: 'Deletes the monitor with its history.',
    tag: TAG,
    access: 'key',
    params: Params,
    responses: { 204: { description: 'The monitor is deleted.' } },
    errors: ['not_found', 'unavailable'],
    handle({ principal, params }) {
      monitors.remove(principal, params.monitor_id);
      return { status: 204 };
    },
  });
}

function historyRoute(monitors: Pick<MonitorService, 'changes'>) {
  return defineRoute({
    method: 'GET',
    path: '/projects/:project_id/monitors/:monitor_id/history',
    operationId: 'listMonitorHistory',
    summary: 'List state changes of a monitor',
    description: `Returns changes of its state, the newest first. The newest ${MAX_CHANGES} are kept.`,
    tag: TAG,
    access: 'key',
    params: Params,
    query: queryOf(Type.Object(page({ maxLimit: MAX_CHANGES, defaultLimit: 50, maxOffset: MAX_CHANGES }))),
    responses: { 200: listOf(StateChangeRead, 'The changes.') },
    errors: ['not_found', 'unavailable'],
    handle: ({ params, query }) => ({
      status: 200,
      body: monitors.changes(params.project_id, params.monitor_id, query).map(toChangeRead),
    }),
  });
}
