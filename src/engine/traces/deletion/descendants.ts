import type { DeletedThing, Below, DeletableKind } from '../model/deletion/stored-spans.js';
import { empty, sql, value, type Sql } from '../clickhouse/client/sql.js';
import { versionTime } from '../write/version-clock.js';
import type { ReadsInProgress } from '../read/reads-in-progress.js';
import type { ReadRows } from '../read/row-reader.js';
import { inProject } from '../read/scope.js';
import { current, rolledUp, standing, tracesOfSessions } from '../read/visibility.js';
import { PORTION, sessionThing, toSpan, toThing, uuids, type FactRow, type SpanRow } from './things.js';

/** Reads what is below a thing that is to be deleted: of a session its traces, of these their spans. */
export class Descendants {
  readonly #rows: ReadRows;
  readonly #reads: ReadsInProgress;

  constructor(rows: ReadRows, reads: ReadsInProgress) {
    this.#rows = rows;
    this.#reads = reads;
  }

  /** As {@link StoredSpans.below}. */
  async below(projectId: string, kind: DeletableKind, id: string): Promise<Below | null> {
    const { upTo, first } = await this.#reads.run(projectId, async (upTo) => ({
      upTo,
      first: await this.#first(projectId, kind, id, upTo),
    }));
    if (first.length === 0) return null;
    const one = sql`= ${value(id, 'UUID')}`;
    const traces = kind === 'span' ? null : kind === 'trace' ? one : inSessions(projectId, one);
    const having = kind === 'session' ? strays(projectId, one) : empty;
    return { upTo: versionTime(upTo), things: this.#pages(projectId, traces, having, kind === 'trace' ? [] : first) };
  }

  /** All that traces hold now, in portions. */
  ofTraces(projectId: string, traceIds: readonly string[]): AsyncGenerator<readonly DeletedThing[]> {
    return this.#pages(projectId, traceIds.length === 0 ? null : sql`IN ${uuids(traceIds)}`, empty, []);
  }

  /** Sessions that are stored, and all that they hold now, in portions. */
  ofSessions(projectId: string, sessionIds: readonly string[]): AsyncGenerator<readonly DeletedThing[]> {
    if (sessionIds.length === 0) return this.ofTraces(projectId, []);
    const those = sql`IN ${uuids(sessionIds)}`;
    return this.#pages(projectId, inSessions(projectId, those), strays(projectId, those), sessionIds.map(sessionThing));
  }

  /** The deleted thing itself, as far as it is stored: a span, or what was posted about a trace or session. */
  async #first(projectId: string, kind: DeletableKind, id: string, upTo: number): Promise<DeletedThing[]> {
    if (kind === 'trace') return this.#things(projectId, sql`= ${value(id, 'UUID')}`, empty, null, 1);
    if (kind === 'session') {
      const [known] = await this.#rows(rolledUp(sql`sessions`, projectId, id));
      return known ? [sessionThing(id)] : [];
    }
    const found = await this.#rows<SpanRow>(
      sql`SELECT toString(trace_id) AS trace, toString(id) AS span, toString(toUnixTimestamp64Micro(max(started_at))) AS started FROM spans
WHERE ${inProject(projectId)} AND id = ${value(id, 'UUID')} AND ${current({ projectId, upTo })} GROUP BY trace_id, id`,
    );
    return found.map(toSpan);
  }

  async *#pages(
    projectId: string,
    traces: Sql | null,
    having: Sql,
    last: readonly DeletedThing[],
  ): AsyncGenerator<readonly DeletedThing[]> {
    let after: DeletedThing | null = null;
    for (let more = traces !== null; more;) {
      const page: DeletedThing[] = await this.#things(projectId, traces ?? empty, having, after, PORTION);
      if (page.length > 0) yield page;
      after = page.at(-1) ?? null;
      more = page.length === PORTION;
    }
    if (last.length > 0) yield last;
  }

  /** Spans and posted traces of some traces, as they are now. Columns are qualified: `toString` hides the bare names. */
  async #things(
    projectId: string,
    traces: Sql,
    having: Sql,
    after: DeletedThing | null,
    limit: number,
  ): Promise<DeletedThing[]> {
    const rows = await this.#rows<FactRow>(
      sql`SELECT toString(f.trace_id) AS trace, row_type AS type, toString(f.id) AS span, toString(toUnixTimestamp64Micro(f.started_at)) AS started
FROM (${standing(sql`trace_id, id, started_at, session_id`, sql`${inProject(projectId)} AND trace_id ${traces}${after === null ? empty : isFrom(after)}`)}) AS f
WHERE 1${after === null ? empty : isBehind(after)}${having}
ORDER BY f.trace_id, row_type, f.id LIMIT ${value(limit, 'UInt64')}`,
    );
    return rows.map(toThing);
  }
}

/** The traces that any write ever put into one of some sessions. @param sessions a condition on their ids */
function inSessions(projectId: string, sessions: Sql): Sql {
  return sql`IN (${tracesOfSessions(projectId, sessions, sql`(member OR named)`)})`;
}

/** A trace that has moved to another session keeps its spans, except for those that name one of these. */
function strays(projectId: string, sessions: Sql): Sql {
  return sql` AND (f.trace_id IN (${tracesOfSessions(projectId, sessions)}) OR f.session_id ${sessions})`;
}

function isBehind({ kind, trace_id, id }: DeletedThing): Sql {
  const type = value(kind === 'trace' ? 1 : 0, 'UInt8');
  return sql` AND (f.trace_id, row_type, f.id) > (${value(trace_id, 'UUID')}, ${type}, ${value(id, 'UUID')})`;
}

/** The condition that a fact may be, or tell of, what is behind a thing. */
function isFrom({ trace_id }: DeletedThing): Sql {
  return sql` AND trace_id >= ${value(trace_id, 'UUID')}`;
}
