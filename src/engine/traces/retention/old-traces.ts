import type { DeletedThing } from '../model/deletion/stored-spans.js';
import type { OldCount, OldTrace, OldTraces, TracePlace } from '../model/retention/old-traces.js';
import type { Micros } from '../../timestamp.js';
import type { ClickHouseClient } from '../clickhouse/client/client.js';
import { LONG_STATEMENTS } from '../clickhouse/client/long-statements.js';
import { empty, join, sql, value, type Sql } from '../clickhouse/client/sql.js';
import type { CommitLog } from '../write/commit-log.js';
import { versionOf, versionTime } from '../write/version-clock.js';
import { Descendants } from '../deletion/descendants.js';
import { uuids, writtenSince } from '../deletion/things.js';
import type { ReadsInProgress } from '../read/reads-in-progress.js';
import { openReader, type ReadLimits, type ReadRows } from '../read/row-reader.js';
import { inProject, type ReadScope } from '../read/scope.js';
import { moment } from '../read/times.js';
import { current, isDeleted } from '../read/visibility.js';
import { candidate, examined, keepingSpans, keeps } from './ages.js';

export interface OldTracesSource {
  readonly client: ClickHouseClient;
  readonly log: Pick<CommitLog, 'gate'>;
  readonly reads: ReadsInProgress;
  readonly limits: ReadLimits;
}

/** Facts come in the order that they are grouped by. */
const IN_ORDER = { optimize_aggregation_in_order: 1 } as const;
/** Work that no one waits for leaves the processors to others; in order, a second thread makes it slower, too. */
const QUIETLY = { ...IN_ORDER, max_threads: 1 } as const;
/** Rows of traces that are counted together: some 150 MB of memory. */
const COUNTED_AT_ONCE = 100_000;

/** Finds traces that are older than a project keeps them. Whatever it reads is settled before. */
export class ClickHouseOldTraces implements OldTraces {
  readonly #log: OldTracesSource['log'];
  readonly #reads: ReadsInProgress;
  readonly #rows: ReadRows;
  readonly #below: Descendants;

  constructor({ client, log, reads, limits }: OldTracesSource) {
    this.#log = log;
    this.#reads = reads;
    this.#rows = openReader(client, limits, LONG_STATEMENTS).rows;
    this.#below = new Descendants(this.#rows, reads);
  }

  candidates(projectId: string, before: Micros, after: TracePlace | null, limit: number): Promise<TracePlace[]> {
    return this.#reads.run(projectId, async () => {
      const rows = await this.#rows<{ readonly trace: string; readonly started: string; readonly spans: string }>(
        sql`SELECT toString(t.id) AS trace, toString(toUnixTimestamp64Micro(t.started_at)) AS started, toString(t.span_count) AS spans
FROM traces AS t FINAL WHERE ${inProject(projectId)} AND ${candidate(before)}${after === null ? empty : isBehind(after)}
ORDER BY t.started_at, t.id LIMIT ${value(limit, 'UInt64')}`,
        { settings: QUIETLY },
      );
      return rows.map(({ trace, started, spans }) => ({
        id: trace,
        started_at: Number(started),
        spans: Number(spans),
      }));
    });
  }

  examine(projectId: string, ids: readonly string[], before: Micros, signal?: AbortSignal) {
    return this.#reads.run(projectId, async (upTo) => {
      const scope = { projectId, upTo };
      const rows = await this.#rows<ExaminedRow>(
        sql`SELECT toString(e.trace_id) AS trace, toString(e.spans) AS total, toString(toUnixTimestamp64Micro(e.newest)) AS latest,
  toString(toUnixTimestamp64Micro(e.first_start)) AS earliest, toString(toUnixTimestamp64Micro(e.last_start)) AS last, e.marked AS marked
FROM (${examined(scope, uuids(ids), before)}) AS e ORDER BY e.trace_id`,
        { settings: QUIETLY, signal },
      );
      const kept = await this.#keptBySpans(scope, rows, signal);
      const old = rows.map(({ trace, total, latest, marked }): OldTrace => ({
        id: trace,
        spans: Number(total),
        newest: Number(latest),
        tagged: marked === 1 || kept.has(trace),
      }));
      return { upTo: versionTime(upTo), old };
    });
  }

  changedSince(projectId: string, ids: readonly string[], since: Micros) {
    return this.#reads.run(projectId, async (upTo) => {
      const written = sql`${inProject(projectId)} AND ver > ${value(versionOf(since), 'UInt64')}`;
      const rows = await this.#rows<{ readonly trace: string | null }>(
        // Null: something that keeps a session.
        sql`${writtenSince(projectId, ids, since)}
UNION ALL SELECT NULL FROM facts WHERE ${written} AND ${keeps(sql`session_tags`)} LIMIT 1
UNION ALL SELECT NULL FROM session_statements WHERE ${written} AND ${keeps(sql`tags`)} LIMIT 1`,
        { settings: QUIETLY },
      );
      const changed = rows.flatMap(({ trace }) => trace ?? []);
      return { upTo: versionTime(upTo), changed, keepsSessions: changed.length < rows.length };
    });
  }

  async *things(projectId: string, ids: readonly string[]): AsyncGenerator<readonly DeletedThing[]> {
    // A deletion that would be refused is not ordered.
    this.#log.gate.requireRoom();
    yield* this.#below.ofTraces(projectId, ids);
  }

  emptySessions(projectId: string, before: Micros, after: string | null, limit: number) {
    return this.#reads.run(projectId, async (upTo) => {
      const behind = after === null ? empty : sql` AND s.session_id > ${value(after, 'UUID')}`;
      const rows = await this.#rows<{ readonly session: string }>(
        sql`SELECT toString(s.session_id) AS session FROM session_statements AS s
WHERE ${inProject(projectId)} AND s.ver <= ${value(upTo, 'UInt64')}${behind}
  AND s.session_id NOT IN (SELECT session_id FROM session_traces FINAL WHERE ${inProject(projectId)} AND (named OR member)
    AND session_id IN (SELECT session_id FROM session_statements WHERE ${inProject(projectId)}))
GROUP BY s.session_id
HAVING NOT ${isDeleted} AND max(s.ver) < ${value(Math.max(0, versionOf(before)), 'UInt64')} AND NOT ${keeps(sql`argMax(s.tags, s.ver)`)}
ORDER BY s.session_id LIMIT ${value(limit, 'UInt64')}`,
        { settings: QUIETLY },
      );
      return { upTo: versionTime(upTo), ids: rows.map(({ session }) => session) };
    });
  }

  /** Slice by slice of the traces, in the order of their ids, so that neither memory nor a statement's time grows with the project. */
  count(projectId: string, before: Micros, signal?: AbortSignal): Promise<OldCount> {
    return this.#reads.run(projectId, async (upTo) => {
      const scope = { projectId, upTo };
      const old = { traces: 0, spans: 0 };
      const tagged = { traces: 0, spans: 0 };
      const keeping = keepingSpans(scope, sql`started_at < ${moment(before)}`);
      const [kept] = await this.#rows(sql`${keeping} LIMIT 1`, { signal });
      for (let after: string | null = null, more = true; more;) {
        const last: string | null = await this.#endOfSlice(projectId, after, signal);
        const slice = between(after, last);
        const ids = sql`(SELECT t.id FROM traces AS t FINAL WHERE ${inProject(projectId)} AND ${candidate(before)} AND ${slice(sql`t.id`)})`;
        const keptBySpan = kept === undefined ? sql`0` : sql`e.trace_id IN (${keeping} AND ${slice(sql`trace_id`)})`;
        const [row] = await this.#rows<CountRow>(
          sql`SELECT toString(count()) AS traces, toString(sum(spans)) AS total, toString(countIf(kept)) AS kept_traces,
  toString(sumIf(spans, kept)) AS kept_spans
FROM (SELECT e.spans AS spans, e.marked OR ${keptBySpan} AS kept FROM (${examined(scope, ids, before)}) AS e)`,
          { settings: IN_ORDER, signal },
        );
        old.traces += Number(row?.traces ?? 0);
        old.spans += Number(row?.total ?? 0);
        tagged.traces += Number(row?.kept_traces ?? 0);
        tagged.spans += Number(row?.kept_spans ?? 0);
        after = last;
        more = last !== null;
      }
      const [all] = await this.#rows<{ readonly spans: string }>(
        sql`SELECT toString(sum(span_count)) AS spans FROM traces FINAL WHERE ${inProject(projectId)} AND NOT gone`,
        { signal },
      );
      return { old, tagged, allSpans: Number(all?.spans ?? 0) };
    });
  }

  tracesOf(projectId: string, spanIds: readonly string[], before: Micros, signal?: AbortSignal): Promise<string[]> {
    return this.#reads.run(projectId, async (upTo) => {
      const rows = await this.#rows<{ readonly trace: string }>(
        sql`SELECT DISTINCT toString(trace_id) AS trace FROM spans
WHERE ${inProject(projectId)} AND started_at < ${moment(before)} AND id IN ${uuids(spanIds)} AND ${current({ projectId, upTo })}`,
        { signal },
      );
      return rows.map(({ trace }) => trace);
    });
  }

  /** The last trace of the slice that begins behind one; null: it ends with the project. */
  async #endOfSlice(projectId: string, after: string | null, signal: AbortSignal | undefined): Promise<string | null> {
    const [row] = await this.#rows<{ readonly trace: string }>(
      sql`SELECT toString(t.id) AS trace FROM traces AS t WHERE ${inProject(projectId)} AND ${between(after, null)(sql`t.id`)}
ORDER BY t.project_id, t.id LIMIT 1 OFFSET ${value(COUNTED_AT_ONCE, 'UInt64')}`,
      { settings: { optimize_read_in_order: 1 }, signal },
    );
    return row?.trace ?? null;
  }

  /** Those of some traces that a tag of one of their spans keeps. */
  async #keptBySpans(
    scope: ReadScope,
    rows: readonly ExaminedRow[],
    signal: AbortSignal | undefined,
  ): Promise<ReadonlySet<string>> {
    const wanted = rows.filter(({ marked, total }) => marked === 0 && total !== '0');
    if (wanted.length === 0) return new Set();
    const from = wanted.reduce((least, { earliest }) => Math.min(least, Number(earliest)), Infinity);
    const to = wanted.reduce((most, { last }) => Math.max(most, Number(last)), -Infinity);
    const among = join(
      [
        sql`started_at >= ${moment(from)}`,
        sql`started_at <= ${moment(to)}`,
        sql`trace_id IN ${uuids(wanted.map(({ trace }) => trace))}`,
      ],
      ' AND ',
    );
    const kept = await this.#rows<{ readonly trace: string }>(
      sql`SELECT DISTINCT toString(k.trace_id) AS trace FROM (${keepingSpans(scope, among)}) AS k`,
      { settings: QUIETLY, signal },
    );
    return new Set(kept.map(({ trace }) => trace));
  }
}

interface ExaminedRow extends Record<'trace' | 'total' | 'latest' | 'earliest' | 'last', string> {
  readonly marked: 0 | 1;
}

type CountRow = Readonly<Record<'traces' | 'total' | 'kept_traces' | 'kept_spans', string>>;

/** The condition that an id is behind one and not behind another; null: no bound. */
function between(after: string | null, last: string | null): (id: Sql) => Sql {
  return (id) => {
    const from = after === null ? sql`1` : sql`${id} > ${value(after, 'UUID')}`;
    return last === null ? from : sql`${from} AND ${id} <= ${value(last, 'UUID')}`;
  };
}

function isBehind({ started_at, id }: TracePlace): Sql {
  return sql` AND (t.started_at, t.id) > (${moment(started_at)}, ${value(id, 'UUID')})`;
}
