import { DomainError } from '../../errors.js';
import type { ChangePage, ChangesFrom, ChangesOf, Followed, ListChanges, SettledRows } from '../model/list/changes.js';
import type { ListQuery } from '../model/list/query.js';
import type { State } from '../model/list/tail.js';
import type { ClickHouseClient } from '../clickhouse/client/client.js';
import { empty, join, sql, value, type Sql } from '../clickhouse/client/sql.js';
import type { Version } from '../write/version-clock.js';
import { jsonLines } from '../read/json-rows.js';
import { openReader, type Reader, type ReadLimits, type ReadRows } from '../read/row-reader.js';
import { inProject, type ReadScope } from '../read/scope.js';
import { fitting } from '../transfer-pages.js';
import { rollupPage, spanBounds, spanConditions } from './compile.js';
import { leftOutOfPicked } from './experiment-filters.js';
import { LIST_SETTINGS } from './list-reads.js';
import { rootColumns, withRootTexts } from './root-texts.js';
import { ShownScores, shownScoresJoin, withoutScores } from './shown-scores.js';
import { idSet } from './rows.js';
import { withSessions } from './unsettled.js';
import { sessionSource, shown, spanSource, traceSource } from './sources.js';
import { readState, type StateParts } from './state.js';

export interface ChangeParts extends StateParts {
  readonly client: ClickHouseClient;
  readonly limits: ReadLimits;
  /** The version up to which everything is acknowledged. */
  readonly acknowledged: () => Version;
}

/** Rows of a page. */
const MAX_ROWS = 1_000;
/** How much wider the next page looks when one found less than it might; about a year is the widest. */
const WIDER = 4;
const WIDEST = 3e13;
/** How much wider than a full page the next one looks: most are full then. */
const SPARE = 1.5;

/** A row that changed. */
interface Changed {
  readonly version: string;
  readonly id: string;
  readonly bytes: string;
}

/** Rows of spans, traces and sessions by their versions. */
export class ClickHouseChanges implements ListChanges {
  readonly #parts: ChangeParts;
  readonly #reader: Reader;
  readonly #shownScores = new ShownScores(null);

  constructor(parts: ChangeParts) {
    this.#parts = parts;
    // Nobody waits for it as for a list.
    this.#reader = openReader(parts.client, parts.limits, { ...LIST_SETTINGS, max_threads: 1 });
  }

  now(): State {
    return this.#parts.acknowledged();
  }

  page(of: ChangesOf, { after, width }: ChangesFrom, upTo: State, signal?: AbortSignal): Promise<ChangePage> {
    const { list, projectId } = of;
    const query = pageOf(of.query);
    return readState(this.#parts, { list, projectId }, async (scope) => {
      // What is rolled up may lag behind, and is read where the rest cannot be had.
      const end = Math.min(upTo, after + width, scope.upTo);
      if (end <= after) throw new DomainError('unavailable', 'Figures of the project are not computed yet. Retry.');
      const range = { scope, since: after, end };
      const all = await this.#reader.rows<Changed>(CHANGED[list](range, query), { signal });
      const some = untied(fitting(all.slice(0, MAX_ROWS)), all);
      const last = Number(some.at(-1)?.version ?? 0);
      const next = all.length > some.length ? behind(after, last) : wider(end, width);
      if (list === 'spans' || some.length === 0) {
        const rows = some.length === 0 ? [] : await this.#spans({ ...range, end: last }, query, signal);
        return { rows, next, leftOut: [] };
      }
      const ids = some.map(({ id }) => id);
      return { ...(await this.#rolled(list, scope, ids, query, signal)), next };
    });
  }

  settled(of: ChangesOf, ids: readonly string[], after: Version, signal?: AbortSignal): Promise<SettledRows> {
    const { list, projectId } = of;
    const query = pageOf(of.query);
    return readState(this.#parts, { list, projectId }, async (scope) => {
      const waiting = ids.slice(0, MAX_ROWS);
      if (list === 'spans' || scope.upTo < after) return { rows: [], ids: [] };
      const range = { scope, since: after, end: scope.upTo, only: waiting };
      const written = await this.#reader.rows<Changed>(CHANGED[list](range, query), { signal });
      const later = new Set(written.map(({ id }) => id));
      const others = waiting.filter((id) => !later.has(id));
      const { rows, leftOut } = await this.#rolled(list, scope, others, query, signal);
      return { rows, ids: waiting.filter((id) => !leftOut.includes(id)) };
    });
  }

  /** Rows of some traces or sessions that match, but for those that are set aside while they are read. */
  async #rolled(
    list: 'traces' | 'sessions',
    scope: ReadScope,
    ids: readonly string[],
    query: ListQuery,
    signal?: AbortSignal,
  ): Promise<Pick<ChangePage, 'rows' | 'leftOut'>> {
    const aside = () => this.#parts.notCurrent(scope.projectId)[list];
    const before = aside();
    const concerned = list === 'traces' ? scope : await withSessions(scope, this.#reader.rows, signal);
    const found = ids.length === 0 ? [] : await this.#found(list, concerned, ids, query, signal);
    const wrong = new Set([...before, ...aside()]);
    const rows = found.flatMap(({ id, row }) => (wrong.has(id) ? [] : [row]));
    return { rows, leftOut: ids.filter((id) => wrong.has(id)) };
  }

  async #spans(range: Range, query: ListQuery, signal?: AbortSignal): Promise<readonly string[]> {
    const { selected, format } = jsonLines(...shown(spanSource, query), [sql`ver`]);
    const found = inRange(range, query);
    const scores = shownScoresJoin(range.scope, query, sql`(SELECT id FROM spans WHERE ${found})`);
    const lines = await this.#reader.lines(
      sql`${spanBounds(range.scope, query)}SELECT ${selected}
FROM spans${scores}
WHERE ${found}
ORDER BY ver
${format}`,
      { signal },
    );
    // A row may be there twice.
    return lines.flatMap(({ row, extra: [version] }, index) => (lines[index - 1]?.extra[0] === version ? [] : [row]));
  }

  async #found(
    list: 'traces' | 'sessions',
    scope: ReadScope,
    ids: readonly string[],
    query: ListQuery,
    signal?: AbortSignal,
  ): Promise<readonly { readonly id: string; readonly row: string }[]> {
    const access = { by: 'ids', ids } as const;
    const source = list === 'traces' ? traceSource : sessionSource;
    const roots = list === 'traces' ? rootColumns : [];
    const columns = [...roots, sql`toString(id)`];
    const page = await this.#reader.lines(rollupPage(source, scope, withoutScores(query), access, columns), { signal });
    const read: ReadRows = (statement, options) => this.#reader.rows(statement, { ...options, signal });
    const rooted =
      list === 'traces' ? await withRootTexts(scope.projectId, page, query, read) : page.map(({ row }) => row);
    const unscored = rooted.map((row, index) => ({ row, id: page[index]?.extra[roots.length] ?? '' }));
    const scored = await this.#shownScores.with(source, scope, query, unscored, read);
    return scored.map((row, index) => ({ row, id: unscored[index]?.id ?? '' }));
  }
}

interface Range {
  readonly scope: ReadScope;
  readonly since: Version;
  readonly end: Version;
  /** The rows that alone are looked at; default: all. */
  readonly only?: readonly string[];
}

const CHANGED: Readonly<Record<Followed, (range: Range, query: ListQuery) => Sql>> = {
  spans: changedSpans,
  traces: changedTraces,
  sessions: changedSessions,
};

/** Of sessions some may have one version, of a trace that they all had: a page ends between versions, where it can. */
function untied(some: readonly Changed[], all: readonly Changed[]): readonly Changed[] {
  const next = all[some.length]?.version;
  const tied = some.findIndex(({ version }) => version === next);
  return tied > 0 ? some.slice(0, tied) : some;
}

function pageOf(query: ListQuery): ListQuery {
  return { ...query, limit: MAX_ROWS, offset: 0, count: false };
}

function inRange({ scope, since, end }: Range, query: ListQuery): Sql {
  return sql`${spanConditions({ ...scope, since }, query)} AND ver <= ${value(end, 'UInt64')}`;
}

function changedSpans(range: Range, query: ListQuery): Sql {
  return sql`${spanBounds(range.scope, query)}SELECT toString(ver) AS version, toString(id) AS id,
  toString(length(payload) + length(attributes) + length(ifNull(error_stack, '')) + 1000) AS bytes
FROM spans
WHERE ${inRange(range, query)}
ORDER BY ver LIMIT 1 BY ver LIMIT ${value(MAX_ROWS + 1, 'UInt64')}`;
}

/** Traces that were last written to within a range. */
function changedTraces({ scope, since, end, only }: Range, query: ListQuery): Sql {
  const leftOut = leftOutOfPicked(sql`trace_id`, scope, query).map((each) => sql` AND ${each}`);
  const named = only === undefined ? empty : sql` AND trace_id IN ${idSet(only)}`;
  return sql`SELECT toString(max(ver)) AS version, toString(trace_id) AS id, '20000' AS bytes FROM facts
WHERE ${writtenSince(scope, since)}${named}${join(leftOut, '')}
GROUP BY trace_id HAVING max(ver) <= ${value(end, 'UInt64')}
ORDER BY max(ver) LIMIT ${value(MAX_ROWS + 1, 'UInt64')}`;
}

function writtenSince({ projectId, upTo }: ReadScope, since: Version): Sql {
  return sql`${inProject(projectId)} AND ver > ${value(since, 'UInt64')} AND ver <= ${value(upTo, 'UInt64')}`;
}

/** Sessions that were last stated within a range, or had a trace that was last written to. */
function changedSessions({ scope, since, end, only }: Range): Sql {
  const written = writtenSince(scope, since);
  const traces = sql`trace_id IN (SELECT trace_id FROM facts WHERE ${written})`;
  const named = only === undefined ? empty : sql`WHERE session_id IN ${idSet(only)}\n`;
  return sql`SELECT toString(max(ver)) AS version, toString(session_id) AS id, '20000' AS bytes FROM (
  SELECT session_id, ver FROM session_statements WHERE ${written}
  UNION ALL
  SELECT m.session_id AS session_id, c.last AS ver FROM (
    SELECT assumeNotNull(session_id) AS session_id, trace_id FROM facts
    WHERE ${inProject(scope.projectId)} AND isNotNull(session_id) AND ${traces}
    UNION DISTINCT
    SELECT session_id, trace_id FROM session_traces WHERE ${inProject(scope.projectId)} AND ${traces}
  ) AS m INNER JOIN (SELECT trace_id, max(ver) AS last FROM facts WHERE ${written} GROUP BY trace_id) AS c
  ON c.trace_id = m.trace_id
)
${named}GROUP BY session_id HAVING max(ver) <= ${value(end, 'UInt64')}
ORDER BY max(ver) LIMIT ${value(MAX_ROWS + 1, 'UInt64')}`;
}

/** The page behind one that is full. */
export function behind(after: Version, last: Version): ChangesFrom {
  return { after: last, width: Math.min(WIDEST, Math.max(MAX_ROWS, Math.ceil((last - after) * SPARE))) };
}

/** The page behind a range that was looked through. */
export function wider(end: Version, width: number): ChangesFrom {
  return { after: end, width: Math.min(WIDEST, width * WIDER) };
}
