import type { DashboardInput, DashboardSummary } from '../../src/features/dashboards/schema.js';
import type { SavedViewInput, SavedViewRead } from '../../src/features/saved-views/schema.js';
import type { Api } from './api.js';

const LLM = { list: 'spans', query: 'span_kind=llm' } as const;

export const DASHBOARD: DashboardInput = {
  name: 'Service quality',
  window: '24h',
  charts: [
    { title: 'Now', list: 'traces', measures: ['count', 'errors', 'cost', 'duration'], kind: 'number' },
    { title: 'Traces', list: 'traces', measures: ['count', 'errors'], kind: 'bars' },
    { title: 'Cost by model', ...LLM, measures: ['cost'], group_by: 'model', kind: 'bars' },
    { title: 'Latency of model calls', ...LLM, measures: ['duration'], kind: 'lines' },
    { title: 'Models', ...LLM, measures: ['count', 'errors', 'cost', 'tokens'], group_by: 'model', kind: 'table' },
    { title: 'Errors by kind', list: 'spans', measures: ['errors'], group_by: 'kind', kind: 'lines' },
  ],
};

export const VIEW: SavedViewInput = {
  name: 'Failed model calls by cost',
  list: 'spans',
  query: 'span_kind=llm&status=error&started_after=7d&sort_by=cost',
  columns: ['name', 'model', 'error_message', 'started_at', 'cost'],
};

/** A dashboard and a saved view, unless the project has those of this name. */
export async function makeDashboard(api: Api, projectId: string): Promise<void> {
  const [dashboards, views] = [`/projects/${projectId}/dashboards`, `/projects/${projectId}/saved-views`];
  const isThere = (all: readonly { readonly name: string }[], name: string) => all.some((one) => one.name === name);
  if (!isThere(await api.read<DashboardSummary[]>(dashboards), DASHBOARD.name))
    await api.send('POST', dashboards, DASHBOARD);
  if (!isThere(await api.read<SavedViewRead[]>(views), VIEW.name)) await api.send('POST', views, VIEW);
}
