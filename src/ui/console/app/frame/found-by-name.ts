import { joinValues } from '../../../../domain/list/comma-values.js';
import { call } from '../state/api.js';
import { hrefOf, navigate, type Target } from '../state/location.js';

/** Objects of each kind that are offered. */
const OFFERED = 5;
/** Judges are few, and have no search of their own. */
const MOST_JUDGES = 500;
/** How far back names of sessions are looked for. */
const SESSION_DAYS = 30;

/** An object whose name contains the text; of a session, which begins with it. */
export interface Found {
  readonly label: string;
  readonly go: () => Promise<void> | void;
}

/** Prompts, judges and sessions by their names. @throws ApiError */
export async function findByName(text: string, signal: AbortSignal): Promise<Found[]> {
  const since = new Date(Date.now() - SESSION_DAYS * 86_400_000).toISOString();
  const [prompts, judges, sessions] = await Promise.all([
    call('GET /projects/:project_id/prompts', { query: { q: text, limit: OFFERED }, signal }),
    call('GET /projects/:project_id/judges', { query: { limit: MOST_JUDGES }, signal }),
    call('GET /sessions:facets', {
      query: { field: 'name', prefix: text, limit: OFFERED, started_after: since },
      signal,
    }),
  ]);
  const named = text.toLowerCase();
  const to = (label: string, goal: Target) => ({ label, go: () => navigate(hrefOf(goal)) });
  return [
    // An instruction of a judge is a prompt, too.
    ...prompts
      .filter(({ slug }) => !judges.some(({ task_slug }) => task_slug === slug))
      .map(({ slug }) => to(`Prompt ${slug}`, { screen: 'prompts', id: slug })),
    ...judges
      .filter(({ name }) => name.toLowerCase().includes(named))
      .slice(0, OFFERED)
      .map(({ id, name }) => to(`Judge ${name}`, { screen: 'judges', id })),
    ...sessions.values.map(({ value }) => ({
      label: `Session ${String(value)}`,
      go: () => goToSession(String(value)),
    })),
  ];
}

/** Opens the session of this name; if several have it, the list of them. */
async function goToSession(name: string): Promise<void> {
  const names = joinValues([name]);
  const [session, ...more] = await call('GET /sessions', { query: { names, fields: 'id', limit: 2 } });
  const isOne = session !== undefined && more.length === 0;
  navigate(hrefOf(isOne ? { screen: 'sessions', id: session.id } : { screen: 'sessions', query: { names } }));
}
