import type { DeletedThing } from '../model/deletion/stored-spans.js';
import { UUID } from '../../schema/ids.js';
import type { Micros } from '../../timestamp.js';
import { join, literal, sql, value, type Sql } from '../clickhouse/client/sql.js';
import { versionOf } from '../write/version-clock.js';
import { inProject } from '../read/scope.js';
import { scoresSince } from '../score/latest.js';

/** Things of one portion, whose ids stand in a statement's text. */
export const PORTION = 10_000;

/** A span as read from `spans`. */
export interface SpanRow {
  readonly trace: string;
  readonly span: string;
  readonly started: string;
}

/** A fact of a span, or of what was posted about a trace. */
export interface FactRow extends SpanRow {
  readonly type: 0 | 1;
}

export function toSpan({ trace, span, started }: SpanRow): DeletedThing {
  return { kind: 'span', trace_id: trace, id: span, started_at: Number(started) };
}

export function toThing(row: FactRow): DeletedThing {
  return row.type === 1 ? { ...toSpan(row), kind: 'trace', started_at: 0 } : toSpan(row);
}

/** A posted session, as a thing to delete. */
export function sessionThing(id: string): DeletedThing {
  return { kind: 'session', trace_id: '', id, started_at: 0 };
}

/** Tells one thing from another. */
export function keyOf({ kind, trace_id, id }: DeletedThing): string {
  return `${kind}/${trace_id}/${id}`;
}

/** The traces that things are in, each once. */
export function tracesOf(things: readonly Pick<DeletedThing, 'trace_id'>[]): string[] {
  return [...new Set(things.map(({ trace_id }) => trace_id))];
}

/** Facts `f` of these things of a project, and of a few more where an id is in several of the traces. */
export function isFactOf(projectId: string, things: readonly Pick<DeletedThing, 'trace_id' | 'id'>[]): Sql {
  return sql`${inProject(projectId)} AND f.trace_id IN ${uuids(tracesOf(things))} AND f.id IN ${uuids(things.map(({ id }) => id))}`;
}

/**
 * Those of some traces that were written to after a moment, as rows of `trace`. By the index of versions, which leaves out nearly
 * all that is stored of these traces.
 */
export function writtenSince(projectId: string, traces: readonly string[], since: Micros): Sql {
  return sql`SELECT DISTINCT toString(f.trace_id) AS trace FROM facts AS f
WHERE ${inProject(projectId)} AND f.trace_id IN ${uuids(traces)} AND f.ver > ${value(versionOf(since), 'UInt64')} AND f.row_type < 2`;
}

/** The same of some spans, as rows of `id`: also those that came with older times of their own, by an import. */
export function spansWrittenSince(
  projectId: string,
  spans: readonly { readonly id: string; readonly trace_id?: string }[],
  since: Micros,
): Sql {
  const things = spans.map(({ id, trace_id = '' }) => ({ id, trace_id }));
  return sql`SELECT DISTINCT toString(f.id) AS id FROM facts AS f
WHERE ${isFactOf(projectId, things)} AND f.row_type = 0 AND f.ver > ${value(versionOf(since), 'UInt64')}`;
}

/** Those of some objects, as rows of `id`, of which a filter by scores of these names may find something else than at a moment. */
export const scoredSince = {
  spans: (projectId: string, ids: readonly string[], names: readonly string[], since: Micros): Sql =>
    sql`SELECT DISTINCT toString(changed) AS id FROM (${scoresSince({ projectId }, names, versionOf(since))('span')})
WHERE changed IN ${uuids(ids)}`,
  traces: (projectId: string, ids: readonly string[], names: readonly string[], since: Micros): Sql => {
    const scored = scoresSince({ projectId }, names, versionOf(since));
    return sql`SELECT toString(changed) AS id FROM (${scored('trace')}) WHERE changed IN ${uuids(ids)}
UNION DISTINCT SELECT toString(trace_id) AS id FROM spans
WHERE ${inProject(projectId)} AND trace_id IN ${uuids(ids)} AND spans.id IN (${scored('span')})`;
  },
  sessions: (projectId: string, ids: readonly string[], names: readonly string[], since: Micros): Sql => {
    const scored = scoresSince({ projectId }, names, versionOf(since));
    return sql`SELECT toString(changed) AS id FROM (${scored('session')}) WHERE changed IN ${uuids(ids)}
UNION DISTINCT SELECT toString(session_id) AS id FROM session_traces
WHERE ${inProject(projectId)} AND session_id IN ${uuids(ids)} AND (trace_id IN (${scored('trace')})
  OR trace_id IN (SELECT trace_id FROM spans WHERE ${inProject(projectId)} AND spans.id IN (${scored('span')})))`;
  },
};

/**
 * The same of some sessions, as rows of `session`: written to when something names them, is written to one of their traces, or is posted about them.
 */
export function sessionsWrittenSince(projectId: string, sessions: readonly string[], since: Micros): Sql {
  const version = value(versionOf(since), 'UInt64');
  const those = sql`${inProject(projectId)} AND session_id IN ${uuids(sessions)}`;
  return sql`SELECT toString(assumeNotNull(session_id)) AS session FROM facts WHERE ${those} AND ver > ${version}
UNION ALL SELECT toString(session_id) AS session FROM session_statements WHERE ${those} AND ver > ${version}
UNION ALL SELECT toString(session_id) AS session FROM session_traces FINAL WHERE ${those} AND member
  AND trace_id IN (SELECT trace_id FROM facts WHERE ${inProject(projectId)} AND ver > ${version})`;
}

/** In the statement's text: there are too many for a URL, which parameters go in. */
export function uuids(ids: readonly string[]): Sql {
  return sql`(${join(
    ids.map((id) => literal(requireUuid(id))),
    ', ',
  )})`;
}

/** @throws Error when a text cannot be part of a statement as an id */
export function requireUuid(id: string): string {
  if (!UUID.test(id)) throw new Error(`not a UUID: ${id}`);
  return id;
}
