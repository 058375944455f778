import type { ClickHouseClient } from '../clickhouse/client/client.js';
import type { Version } from '../write/version-clock.js';
import { inProject } from '../read/scope.js';
import { deleteRows, mutationsEnded } from '../clickhouse/client/mutations.js';
import { join, literal, numbers, sql, value, type Sql } from '../clickhouse/client/sql.js';
import { wordConditions } from './searched-words.js';
import type { TimeRange } from '../read/times.js';
import { coveredBy, outermost } from './time-ranges.js';
import { COLUMNS } from './word-rows.js';

/** Where a text may be found. */
export interface Candidates {
  /** When the spans started in which the text may occur; it occurs in no others. */
  readonly ranges: readonly TimeRange[];
  /** About how many spans started within the ranges. */
  readonly spans: number;
  /** The part of the ranges with about `spans` of the latest, or earliest, spans; null when that would be all. */
  outermost(spans: number, latest: boolean): readonly TimeRange[] | null;
}

/** The most ranges in one statement, whose analysis takes longer with each. */
const MAX_RANGES = 64;
/** The most ranges of times that each row is compared with when deleted spans are forgotten. */
const MAX_FORGOTTEN = 1_000;

/**
 * Tells where a text may occur from the words that spans hold, see the table `span_words`. Spans that are not in it yet
 * may hold anything. Why ClickHouse's own index of texts is not used stands in engine/traces/README.md.
 */
export class WordIndex {
  readonly #client: ClickHouseClient;
  /** The version up to which all spans are in the table; 0: none. */
  #upTo: Version = 0;
  #cleared = 0;

  constructor(client: ClickHouseClient) {
    this.#client = client;
  }

  /** Reads up to which version an earlier process has indexed. */
  async load(): Promise<void> {
    const [row] = await this.#client.query<{ ver: string | number }>(
      sql`SELECT max(indexed_to) AS ver FROM span_words`,
    );
    this.#upTo = Number(row?.ver ?? 0);
  }

  get upTo(): Version {
    return this.#upTo;
  }

  /** Call after the rows of all spans up to a version are stored. */
  indexed(upTo: Version): void {
    this.#upTo = upTo;
  }

  /** Forgets everything, for the table to be refilled. */
  async clear(): Promise<void> {
    this.#upTo = 0;
    this.#cleared += 1;
    await this.#client.command(sql`TRUNCATE TABLE span_words`);
  }

  /**
   * Takes the words of deleted spans that started within these ranges out of the table. They are among those of other spans, so
   * all words of their rows go: any text may be there until the rows are refilled.
   * @param signal ends the waiting, with its reason
   */
  async forget(projectId: string, started: readonly TimeRange[], signal: AbortSignal): Promise<void> {
    if (started.length === 0) return;
    // Rows that lie between two deleted spans may go as well: they are refilled from the remaining spans.
    const times = coveredBy(started, MAX_FORGOTTEN);
    const [from, to] = [numbers(times.map((range) => range.from)), numbers(times.map((range) => range.to))];
    const condition = sql`project_id = ${literal(projectId)} AND complete = 1 AND arrayExists((f, t) -> t >= toUnixTimestamp64Micro(started_from) AND f <= toUnixTimestamp64Micro(started_to), [${from}], [${to}])`;
    // While rows cannot go, each try would add some.
    await mutationsEnded(this.#client, { table: 'span_words', signal });
    // Emptied rows are there before the others go, so that no search misses anything in between.
    await this.#client.command(
      sql`INSERT INTO span_words (${COLUMNS})
SELECT project_id, started_from, started_to, spans, indexed_to, 2 AS emptied, '' AS no_words, '' AS no_figures FROM span_words WHERE ${condition}`,
      { signal },
    );
    await deleteRows(this.#client, 'span_words', condition, signal);
  }

  /** @param signal ends the waiting, with its reason */
  async forgetProject(projectId: string, signal: AbortSignal): Promise<void> {
    await deleteRows(this.#client, 'span_words', sql`project_id = ${literal(projectId)}`, signal);
  }

  /**
   * The spans in which a text may occur.
   * @param read runs a statement within the limits of the read that asks.
   * @returns null when these would be all spans, or are not known.
   */
  async candidates(
    projectId: string,
    text: string,
    read: <T>(statement: Sql) => Promise<T[]>,
  ): Promise<Candidates | null> {
    const conditions = wordConditions(text);
    const [upTo, cleared] = [this.#upTo, this.#cleared];
    if (conditions.length === 0 || upTo === 0) return null;
    const project = inProject(projectId);
    const statement = sql`SELECT toString(toUnixTimestamp64Micro(started_from)) AS from, toString(toUnixTimestamp64Micro(started_to)) AS to, toString(spans) AS count
FROM span_words WHERE ${project} AND (complete != 1 OR (${join(conditions, ' AND ')}))
UNION ALL
SELECT toString(toUnixTimestamp64Micro(min(started_at))), toString(toUnixTimestamp64Micro(max(started_at))), toString(count())
FROM spans WHERE ${project} AND ver > ${value(upTo, 'UInt64')} GROUP BY toStartOfHour(started_at)`;
    const rows = await read<{ from: string; to: string; count: string }>(statement);
    // The table was emptied meanwhile: not all rows may have been read.
    if (cleared !== this.#cleared) return null;
    const indexed = rows.map(({ from, to, count }) => ({ from: Number(from), to: Number(to), spans: Number(count) }));
    return {
      ranges: coveredBy(indexed, MAX_RANGES),
      spans: indexed.reduce((sum, { spans }) => sum + spans, 0),
      outermost(spans, latest) {
        const some = outermost(indexed, spans, latest);
        return some && coveredBy(some, MAX_RANGES);
      },
    };
  }
}
