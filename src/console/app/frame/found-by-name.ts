import { joinValues } from '../../../engine/traces/model/list/comma-values.js';
import { call } from '../state/api.js';
import { hrefOf, navigate, type Target } from '../state/location.js';

/** Objects of each kind that are offered. */
const OFFERED = 5;
/** Prompts and judges that one call answers. */
const LIMITS = { prompts: 1000, judges: 500 };
/** How far back names of sessions are looked for. */
const SESSION_DAYS = 30;

export interface Goal {
  readonly label: string;
  readonly go: () => Promise<void> | void;
}

/** Prompts, judges, datasets, experiments, dashboards and saved views whose names contain the text. @throws ApiError */
export async function findNamed(text: string, signal: AbortSignal): Promise<Goal[]> {
  const [prompts, judges, datasets, { experiments }, dashboards, views] = await Promise.all([
    call('GET /projects/:project_id/prompts', { query: { q: text, limit: LIMITS.prompts }, signal }),
    call('GET /projects/:project_id/judges', { query: { limit: LIMITS.judges }, signal }),
    call('GET /v1/datasets', { query: { q: text, limit: OFFERED }, signal }),
    call('GET /projects/:project_id/experiments', { query: { q: text, limit: OFFERED }, signal }),
    call('GET /projects/:project_id/dashboards', { signal }),
    call('GET /projects/:project_id/saved-views', { signal }),
  ]);
  const named = text.toLowerCase();
  const isNamed = ({ name }: { readonly name: string }) => name.toLowerCase().includes(named);
  const to = (label: string, goal: Target) => ({ label, go: () => navigate(hrefOf(goal)) });
  return [
    // An instruction of a judge is a prompt, too.
    ...prompts
      .filter(({ slug }) => !judges.some(({ task_slug }) => task_slug === slug))
      .slice(0, OFFERED)
      .map(({ slug }) => to(`Prompt ${slug}`, { screen: 'prompts', id: slug })),
    ...judges
      .filter(isNamed)
      .slice(0, OFFERED)
      .map(({ id, name }) => to(`Judge ${name}`, { screen: 'judges', id })),
    ...datasets.map(({ name }) => to(`Dataset ${name}`, { screen: 'datasets', id: name })),
    ...experiments.map(({ id, name, dataset }) =>
      to(`Experiment ${name} on ${dataset.name}`, { screen: 'experiments', id }),
    ),
    ...dashboards
      .filter(isNamed)
      .slice(0, OFFERED)
      .map(({ id, name }) => to(`Dashboard ${name}`, { screen: 'dashboards', id })),
    ...views
      .filter(isNamed)
      .slice(0, OFFERED)
      .map(({ id, name }) => to(`View ${name}`, { screen: 'views', id })),
  ];
}

/** Sessions whose names begin with the text. @throws ApiError */
export async function findSessions(text: string, signal: AbortSignal): Promise<Goal[]> {
  const started_after = new Date(Date.now() - SESSION_DAYS * 86_400_000).toISOString();
  const query = { field: 'name', prefix: text, limit: OFFERED, started_after };
  const { values } = await call('GET /sessions:facets', { query, signal });
  return values.map(({ value }) => ({ label: `Session ${String(value)}`, go: () => goToSession(String(value)) }));
}

/** Opens the session of this name; if several have it, the list of them. */
async function goToSession(name: string): Promise<void> {
  const names = joinValues([name]);
  const [session, ...more] = await call('GET /sessions', { query: { names, fields: 'id', limit: 2 } });
  if (session !== undefined && more.length === 0) navigate(hrefOf({ screen: 'sessions', id: session.id }));
  else navigate(hrefOf({ screen: 'sessions', query: { names, range: 'all' } }));
}
