import type { Suspect } from '../model/check/audit.js';
import type { ClickHouseClient } from '../clickhouse/client/client.js';
import { join, literal, sql } from '../clickhouse/client/sql.js';
import type { DirtyItem } from '../rollup/dirty-set.js';
import { changedSince, readWatermark } from '../rollup/recovery.js';
import type { Version } from '../write/version-clock.js';

/** What no audit judges, as `<project>/<id>`: it is known not to be rolled up, and the next start, or a round, does it. */
export interface Unsettled {
  readonly traces: ReadonlySet<string>;
  readonly sessions: ReadonlySet<string>;
  /** Rows of later versions are recovered by the next start; null: all are. */
  readonly upTo: Version | null;
}

/** Has traces and sessions recomputed, as rounds do. */
export type Recompute = (changed: {
  readonly traces: readonly DirtyItem[];
  readonly sessions: readonly DirtyItem[];
}) => Promise<void>;

/**
 * Finds what is not rolled up.
 * @param stopped whether no server runs: then, all that was written after the watermark is the next start's
 */
export async function unsettled(client: ClickHouseClient, stopped: boolean): Promise<Unsettled> {
  const aside = await client.query<DirtyItem & { kind: string }>(
    sql`SELECT project_id AS projectId, toString(id) AS id, kind FROM set_aside FINAL WHERE aside`,
  );
  const upTo = stopped ? await readWatermark(client) : null;
  const changed = upTo === null ? { traces: [], sessions: [] } : await changedSince(client, upTo);
  const traces = [...aside.filter(({ kind }) => kind === 'trace'), ...changed.traces];
  const sessions = [...aside.filter(({ kind }) => kind === 'session'), ...changed.sessions];
  return {
    traces: new Set(traces.map(nameOf)),
    sessions: new Set([...sessions, ...(await sessionsOf(client, traces))].map(nameOf)),
    upTo,
  };
}

const NAMED = 1_000;

/** Sessions that traces bring something to, or ever did. */
async function sessionsOf(client: ClickHouseClient, traces: readonly DirtyItem[]): Promise<DirtyItem[]> {
  const found: DirtyItem[] = [];
  for (let from = 0; from < traces.length; from += NAMED) {
    const some = traces.slice(from, from + NAMED);
    const pairs = sql`(project_id, trace_id) IN (${join(
      some.map(({ projectId, id }) => sql`(${literal(projectId)}, toUUID(${literal(id)}))`),
      ', ',
    )})`;
    found.push(
      ...(await client.query<DirtyItem>(
        sql`SELECT DISTINCT project_id AS projectId, toString(session) AS id FROM (
         SELECT project_id, session_id AS session FROM session_traces WHERE ${pairs}
         UNION ALL SELECT project_id, assumeNotNull(session_id) FROM facts WHERE ${pairs} AND isNotNull(session_id))`,
      )),
    );
  }
  return found;
}

/** Suspects' ids by their projects. */
export function byProject(suspects: readonly Suspect[]): Map<string, string[]> {
  const ids = new Map<string, Set<string>>();
  for (const { project, id } of suspects) ids.set(project, (ids.get(project) ?? new Set()).add(id));
  return new Map([...ids].map(([project, own]) => [project, [...own]]));
}

/** Things as the rollups name them. */
export function items(project: string, ids: readonly string[]): DirtyItem[] {
  return [...new Set(ids)].map((id) => ({ projectId: project, id }));
}

function nameOf({ projectId, id }: DirtyItem): string {
  return `${projectId}/${id}`;
}
