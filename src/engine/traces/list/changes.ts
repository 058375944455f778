import type { ChangePage, ChangesFrom, ChangesOf, ListChanges } from '../model/list/changes.js';
import type { ListQuery } from '../model/list/query.js';
import type { State } from '../model/list/tail.js';
import type { ClickHouseClient } from '../clickhouse/client/client.js';
import { join, sql, value, type Sql } from '../clickhouse/client/sql.js';
import type { Version } from '../write/version-clock.js';
import { jsonLines } from '../read/json-rows.js';
import { openReader, type Reader, type ReadLimits } from '../read/row-reader.js';
import { inProject, type ReadScope } from '../read/scope.js';
import { fitting } from '../transfer-pages.js';
import { rollupPage, spanBounds, spanConditions } from './compile.js';
import { leftOutOfPicked } from './experiment-filters.js';
import { LIST_SETTINGS } from './list-reads.js';
import { rootColumns, withRootTexts } from './root-texts.js';
import { shownScoresJoin, withoutScores, withScores } from './shown-scores.js';
import { shown, spanSource, traceSource } from './sources.js';
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

/** Rows of spans and traces by their versions. */
export class ClickHouseChanges implements ListChanges {
  readonly #parts: ChangeParts;
  readonly #reader: Reader;

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
    const query = { ...of.query, limit: MAX_ROWS, offset: 0, count: false };
    const end = Math.min(upTo, after + width);
    return readState(this.#parts, { list, projectId, figures: list === 'traces' }, async (scope) => {
      const range = { scope, since: after, end };
      const all = await this.#reader.rows<Changed>(
        list === 'spans' ? changedSpans(range, query) : changedTraces(range, query),
        {
          signal,
        },
      );
      const some = fitting(all.slice(0, MAX_ROWS));
      const last = Number(some.at(-1)?.version ?? 0);
      const rows =
        some.length === 0
          ? []
          : list === 'spans'
            ? await this.#spans({ ...range, end: last }, query, signal)
            : await this.#traces(scope, some, query, signal);
      return { rows, next: all.length > some.length ? behind(after, last) : wider(end, width) };
    });
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

  /** Those of some traces that match. */
  async #traces(
    scope: ReadScope,
    changed: readonly Changed[],
    query: ListQuery,
    signal?: AbortSignal,
  ): Promise<readonly string[]> {
    const access = { by: 'ids', ids: changed.map(({ id }) => id) } as const;
    const columns = [...rootColumns, sql`toString(id)`];
    const page = await this.#reader.lines(rollupPage(traceSource, scope, withoutScores(query), access, columns), {
      signal,
    });
    const read = <T>(statement: Sql) => this.#reader.rows<T>(statement, { signal });
    const rooted = await withRootTexts(scope.projectId, page, query, read);
    const unscored = rooted.map((row, index) => ({ row, id: page[index]?.extra[rootColumns.length] ?? '' }));
    return withScores(traceSource, scope, query, unscored, read);
  }
}

interface Range {
  readonly scope: ReadScope;
  readonly since: Version;
  readonly end: Version;
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
function changedTraces({ scope, since, end }: Range, query: ListQuery): Sql {
  const { projectId, upTo } = scope;
  const leftOut = leftOutOfPicked(sql`trace_id`, scope, query).map((each) => sql` AND ${each}`);
  return sql`SELECT toString(max(ver)) AS version, toString(trace_id) AS id, '20000' AS bytes FROM facts
WHERE ${inProject(projectId)} AND ver > ${value(since, 'UInt64')} AND ver <= ${value(upTo, 'UInt64')}${join(leftOut, '')}
GROUP BY trace_id HAVING max(ver) <= ${value(end, 'UInt64')}
ORDER BY max(ver) LIMIT ${value(MAX_ROWS + 1, 'UInt64')}`;
}

function behind(after: Version, last: Version): ChangesFrom {
  return { after: last, width: Math.min(WIDEST, Math.max(MAX_ROWS, Math.ceil((last - after) * SPARE))) };
}

function wider(end: Version, width: number): ChangesFrom {
  return { after: end, width: Math.min(WIDEST, width * WIDER) };
}
