import type { DashboardPatch, DashboardRead } from '../../../../features/dashboards/schema.js';
import type { Chart } from '../../../model/dashboard.js';
import { announce } from '../../state/announce.js';
import { call, ofProject } from '../../state/api.js';
import { changedAt, useQuery } from '../../state/query.js';

/** Where dashboards are. */
export const dashboards = () => ofProject('/dashboards');

/** The dashboards of the project without their charts, by name. */
export function useDashboards() {
  return useQuery({
    key: [dashboards()],
    ask: (signal) => call('GET /projects/:project_id/dashboards', { signal }),
  });
}

export function readDashboard(dashboard_id: string, signal?: AbortSignal): Promise<DashboardRead> {
  return call('GET /projects/:project_id/dashboards/:dashboard_id', { params: { dashboard_id }, signal });
}

/** Changes a dashboard as it was read, and says so. @throws ApiError also where someone else changed it meanwhile */
export async function changeDashboard(
  { id, version }: Pick<DashboardRead, 'id' | 'version'>,
  patch: Omit<DashboardPatch, 'version'>,
  said: string,
): Promise<void> {
  const params = { dashboard_id: id };
  try {
    await call('PATCH /projects/:project_id/dashboards/:dashboard_id', { params, body: { ...patch, version } });
    announce(said);
  } finally {
    await changedAt(dashboards());
  }
}

/** The charts with one in the place of another, or behind them all. */
export function withChart({ charts }: Pick<DashboardRead, 'charts'>, chart: Chart, at = charts.length): Chart[] {
  return charts.toSpliced(at, 1, chart);
}
