import type { Readable } from 'node:stream';
import type { State, TailNews, TailOf, TailSource } from '../model/list/tail.js';
import type { ListQuery } from '../model/list/query.js';
import { isTooLarge } from '../clickhouse/client/client-errors.js';
import type { ClickHouseClient } from '../clickhouse/client/client.js';
import { empty, join, sql, value, type Sql } from '../clickhouse/client/sql.js';
import type { CommitNews } from '../write/commit-news.js';
import { versionAt, type Version } from '../write/version-clock.js';
import { jsonLines } from '../read/json-rows.js';
import { openReader, type Reader, type ReadLimits, type ReadRows } from '../read/row-reader.js';
import { inProject, type ReadScope } from '../read/scope.js';
import {
  countOf,
  rollupMatches,
  rollupPage,
  sessionAskedFor,
  spanBounds,
  spanConditions,
  spanMatches,
} from './compile.js';
import { rootColumns, withRootTexts } from './root-texts.js';
import { asksOfExperiments, leftOutOfPicked } from './experiment-filters.js';
import { LIST_SETTINGS } from './list-reads.js';
import { idsAskedFor } from './rows.js';
import { ShownScores, shownScoresJoin, withoutScores } from './shown-scores.js';
import { shown, spanSource, traceSource } from './sources.js';
import { readState, type StateParts } from './state.js';

export interface TailSourceParts extends StateParts {
  readonly client: ClickHouseClient;
  readonly limits: ReadLimits;
  readonly commits: CommitNews;
  /** The version up to which everything is acknowledged. */
  readonly acknowledged: () => Version;
}

/** Rows that are told at once. */
const MAX_ROWS = 200;
/** They are held in memory, unlike those of a list. */
const MAX_BYTES = 1024 * 1024;
/** Traces that are looked at, of those that changed: the ones that did last. */
const MAX_CHANGED = 1000;

/** What is written to spans and traces, from one state to the next. */
export class ClickHouseTails implements TailSource {
  readonly #parts: TailSourceParts;
  readonly #reader: Reader;
  readonly #shownScores = new ShownScores(null);

  constructor(parts: TailSourceParts) {
    this.#parts = parts;
    // Nobody waits for it as for a list, and everybody for writes.
    this.#reader = openReader(parts.client, parts.limits, { ...LIST_SETTINGS, max_threads: 1 });
  }

  now(): State {
    return this.#parts.acknowledged();
  }

  ago(ms: number): State {
    return versionAt(Date.now() - ms);
  }

  onCommit(projectId: string, listener: () => void): () => void {
    return this.#parts.commits.on(projectId, listener);
  }

  async read({ projectId, list, query: asked }: TailOf, since: State): Promise<TailNews> {
    const query = { ...asked, limit: MAX_ROWS, offset: 0, count: false };
    const of = {
      list,
      projectId,
      ids: asksOfExperiments(query) ? null : idsAskedFor(query, list === 'spans' ? 'trace_id' : 'id'),
      figures: list === 'traces' || sessionAskedFor(query) !== null,
    };
    let state = since;
    try {
      return await readState(this.#parts, of, (scope) => {
        state = scope.upTo;
        const found = { ...scope, since };
        return list === 'spans' ? this.#spans(found, query) : this.#traces(found, query);
      });
    } catch (error) {
      if (!isTooLarge(error)) throw error;
      return { rows: [], skipped: null, state };
    }
  }

  async #spans(scope: ReadScope, query: TailOf['query']): Promise<TailNews> {
    const { selected, format } = jsonLines(...shown(spanSource, query));
    const latest = sql`WHERE ${spanConditions(scope, query)}
ORDER BY ver DESC
LIMIT ${value(MAX_ROWS, 'UInt64')}`;
    const scores = shownScoresJoin(scope, query, sql`(SELECT id FROM spans ${latest})`);
    const stream = await this.#reader.stream(sql`${spanBounds(scope, query)}SELECT ${selected}
FROM spans${scores}
${latest}
${format}`);
    const { lines, isWhole } = await firstLines(stream);
    const more = !isWhole || lines.length === MAX_ROWS;
    const matching = more ? await this.#count(countOf(spanMatches(scope, query))) : lines.length;
    return { rows: lines, skipped: matching - lines.length, state: scope.upTo };
  }

  async #traces({ since = 0, ...scope }: ReadScope, query: TailOf['query']): Promise<TailNews> {
    const changed = await this.#reader.rows<{ id: string }>(changedTraces(scope, since, query));
    const ids = changed.slice(0, MAX_CHANGED).map(({ id }) => id);
    if (ids.length === 0) return { rows: [], skipped: 0, state: scope.upTo };
    const access = { by: 'ids', ids } as const;
    const columns = [...rootColumns, sql`toString(id)`];
    const page = await this.#reader.lines(rollupPage(traceSource, scope, withoutScores(query), access, columns));
    const read: ReadRows = (statement, options) => this.#reader.rows(statement, options);
    const rooted = await withRootTexts(scope.projectId, page, query, read);
    const unscored = rooted.map((row, index) => ({ row, id: page[index]?.extra[rootColumns.length] ?? '' }));
    const all = await this.#shownScores.with(traceSource, scope, query, unscored, read);
    const rows = fitting(all);
    const matching =
      all.length < MAX_ROWS ? all.length : await this.#count(countOf(rollupMatches(traceSource, scope, query, access)));
    const skipped = changed.length > MAX_CHANGED ? null : matching - rows.length;
    return { rows, skipped, state: scope.upTo };
  }

  async #count(statement: Sql): Promise<number> {
    const [row] = await this.#reader.rows<{ total: string | number }>(statement);
    return Number(row?.total ?? 0);
  }
}

/** Traces that anything was written to, the last ones first. */
function changedTraces(scope: ReadScope, since: Version, query: ListQuery): Sql {
  const { projectId, upTo } = scope;
  const only = idsAskedFor(query);
  const named = only === null ? empty : sql` AND trace_id IN ${value(only, 'Array(UUID)')}`;
  return sql`SELECT toString(trace_id) AS id FROM facts
WHERE ${inProject(projectId)} AND ver > ${value(since, 'UInt64')} AND ver <= ${value(upTo, 'UInt64')}${named}${join(
    leftOutOfPicked(sql`trace_id`, scope, query).map((each) => sql` AND ${each}`),
    '',
  )}
GROUP BY trace_id ORDER BY max(ver) DESC LIMIT ${value(MAX_CHANGED + 1, 'UInt64')}`;
}

/** The first rows, as many as fit. */
function fitting(rows: readonly string[]): readonly string[] {
  let bytes = 0;
  const end = rows.findIndex((row) => (bytes += Buffer.byteLength(row)) > MAX_BYTES);
  return end === -1 ? rows : rows.slice(0, end);
}

/** The first lines of a text, as many as fit; the rest is not read. */
async function firstLines(stream: Readable): Promise<{ readonly lines: string[]; readonly isWhole: boolean }> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    bytes += chunk.length;
    // Leaving the loop ends the statement.
    if (bytes > MAX_BYTES) break;
  }
  const isWhole = bytes <= MAX_BYTES;
  const text = Buffer.concat(chunks).toString();
  const whole = isWhole ? text : text.slice(0, Math.max(0, text.lastIndexOf('\n')));
  return { lines: whole.split('\n').filter((line) => line !== ''), isWhole };
}
