import { Type } from '@sinclair/typebox';
import { uuid } from '../../../engine/schema/parts.js';
import { formatTimestamp } from '../../../engine/timestamp.js';
import { project_id, ProjectParams } from '../../../http/parameters.js';
import { defineRoute, jsonBody, listOf } from '../../../http/route.js';
import type { Dashboard } from '../dashboard.js';
import type { DashboardService } from '../dashboard-service.js';
import {
  DashboardInput,
  DashboardPatch,
  DashboardRead,
  DashboardSummary,
  MAX_CHARTS,
  MAX_DASHBOARDS,
} from '../schema.js';

/** How the documentation groups these routes. */
const TAG = 'Dashboards';

const Params = Type.Object({ project_id, dashboard_id: uuid('Id of the dashboard.') });
const DASHBOARD = { 200: { description: 'The dashboard.', schema: DashboardRead } };

/** Charts of statistics under a name. */
export function dashboardRoutes(dashboards: DashboardService) {
  return [
    createRoute(dashboards),
    listRoute(dashboards),
    getRoute(dashboards),
    updateRoute(dashboards),
    deleteRoute(dashboards),
  ];
}

function createRoute(dashboards: Pick<DashboardService, 'create'>) {
  return defineRoute({
    method: 'POST',
    path: '/projects/:project_id/dashboards',
    operationId: 'createDashboard',
    summary: 'Create a dashboard',
    description:
      'A dashboard is an ordered list of charts for everyone in the project. A chart that `:stats` would refuse is refused here, ' +
      `too. A project has at most ${MAX_DASHBOARDS} dashboards, each with at most ${MAX_CHARTS} charts.`,
    tag: TAG,
    access: 'key',
    params: ProjectParams,
    body: jsonBody(DashboardInput),
    responses: { 201: { description: 'The dashboard.', schema: DashboardRead } },
    errors: ['invalid', 'conflict', 'unavailable'],
    handle({ principal, params, body }) {
      const created = toDashboardRead(dashboards.create(principal, body));
      const headers = { Location: `/projects/${params.project_id}/dashboards/${created.id}` };
      return { status: 201, headers, body: created };
    },
  });
}

function listRoute(dashboards: Pick<DashboardService, 'list'>) {
  return defineRoute({
    method: 'GET',
    path: '/projects/:project_id/dashboards',
    operationId: 'listDashboards',
    summary: 'List dashboards',
    description: 'Returns all dashboards of the project without their charts, by name.',
    tag: TAG,
    access: 'key',
    params: ProjectParams,
    responses: { 200: listOf(DashboardSummary, 'The dashboards.') },
    errors: ['unavailable'],
    handle: ({ params }) => ({ status: 200, body: dashboards.list(params.project_id).map(toDashboardSummary) }),
  });
}

function getRoute(dashboards: Pick<DashboardService, 'get'>) {
  return defineRoute({
    method: 'GET',
    path: '/projects/:project_id/dashboards/:dashboard_id',
    operationId: 'getDashboard',
    summary: 'Get a dashboard',
    description: "Returns a dashboard with its charts. `GET /{list}:stats` returns a chart's figures.",
    tag: TAG,
    access: 'key',
    params: Params,
    responses: DASHBOARD,
    errors: ['not_found', 'unavailable'],
    handle: ({ params }) => ({
      status: 200,
      body: toDashboardRead(dashboards.get(params.project_id, params.dashboard_id)),
    }),
  });
}

function updateRoute(dashboards: Pick<DashboardService, 'change'>) {
  return defineRoute({
    method: 'PATCH',
    path: '/projects/:project_id/dashboards/:dashboard_id',
    operationId: 'updateDashboard',
    summary: 'Update a dashboard',
    description:
      'Renames a dashboard, or gives it another window or other charts. With `version`, it changes only what you have read.',
    tag: TAG,
    access: 'key',
    params: Params,
    body: jsonBody(DashboardPatch),
    responses: DASHBOARD,
    errors: ['invalid', 'not_found', 'conflict', 'unavailable'],
    handle: ({ principal, params, body }) => ({
      status: 200,
      body: toDashboardRead(dashboards.change(principal, params.dashboard_id, body)),
    }),
  });
}

function deleteRoute(dashboards: Pick<DashboardService, 'remove'>) {
  return defineRoute({
    method: 'DELETE',
    path: '/projects/:project_id/dashboards/:dashboard_id',
    operationId: 'deleteDashboard',
    summary: 'Delete a dashboard',
    description: 'Deletes a dashboard with its charts. What they count stays.',
    tag: TAG,
    access: 'key',
    params: Params,
    responses: { 204: { description: 'The dashboard is deleted.' } },
    errors: ['not_found', 'unavailable'],
    handle({ principal, params }) {
      dashboards.remove(principal, params.dashboard_id);
      return { status: 204 };
    },
  });
}

function toDashboardRead(dashboard: Dashboard): DashboardRead {
  const { chart_count: _count, ...summary } = toDashboardSummary(dashboard);
  const charts = dashboard.charts.map(({ measures, ...chart }) => ({ ...chart, measures: [...measures] }));
  return { ...summary, charts };
}

function toDashboardSummary({
  id,
  name,
  window,
  charts,
  version,
  created_by,
  ...dashboard
}: Dashboard): DashboardSummary {
  return {
    ...{ id, name, window, chart_count: charts.length, version },
    created_at: formatTimestamp(dashboard.created_at),
    created_by,
    updated_at: formatTimestamp(dashboard.updated_at),
  };
}
