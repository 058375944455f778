import type { Version } from '../write/version-clock.js';
import { join, literal, number, sql, type Sql } from '../clickhouse/client/sql.js';
import { FIGURES, SEARCHED_TEXT, TOKENS, WORDS } from './searched-words.js';

/*
 * The statements that make rows of `span_words`.
 */

/** Fewer spans of a project than this, if they are not large, are read as quickly as their words. */
const MIN_SPANS = 512;
const MIN_BYTES = 8 * 1024 * 1024;
/** Words that take more than this share of the texts are not kept: they are ids or numbers, or a language without spaces. */
const MAX_SHARE = 1 / 8;

export const COLUMNS = sql`project_id, started_from, started_to, spans, indexed_to, complete, words, figures`;

export interface Indexing {
  /** The version after which indexing begins. */
  readonly after: Sql;
  readonly upTo: Version;
  /** A condition on the spans of these versions; default: all. */
  readonly where?: Sql;
  /** About how many spans make a row. */
  readonly together: number;
  /** Whether words are taken from texts; without them, any text may be in these spans. */
  readonly withTexts: boolean;
}

/**
 * Inserts rows for the versions after one up to another, whole or not at all. Unlike a read, which sees a state, it leaves
 * out every version that was replaced or deleted up to now: deleted spans must leave no words.
 */
export function indexing({ after, upTo, where = sql`1`, together, withTexts }: Indexing): Sql {
  const last = number(upTo);
  return sql`INSERT INTO span_words (${COLUMNS})
WITH ${WORDS} AS all_words, ${FIGURES} AS all_figures,
  (spans >= ${number(MIN_SPANS)} OR bytes >= ${number(MIN_BYTES)}) AND length(all_words) + length(all_figures) <= bytes * ${number(MAX_SHARE)} AS worthwhile
SELECT project_id, started_from, started_to, spans, ${last}, worthwhile, if(worthwhile, all_words, ''), if(worthwhile, all_figures, '')
FROM (
  SELECT project_id, min(started_at) AS started_from, max(started_at) AS started_to, count() AS spans,
    sum(length(texts)) AS bytes, ${TOKENS} AS tokens
  FROM (
    SELECT project_id, started_at, texts, intDiv(rowNumberInAllBlocks(), ${number(together)}) AS part FROM (
      SELECT project_id, started_at, ${withTexts ? SEARCHED_TEXT : sql`''`} AS texts FROM spans
      WHERE ver > ${after} AND ver <= ${last} AND ${where}
        AND ver NOT IN (SELECT ver FROM superseded WHERE ver > ${after} AND ver <= ${last})
      ORDER BY project_id, started_at
    )
  )
  GROUP BY project_id, part
)`;
}

/** A row whose words a deletion took out: any text may be in its spans, see `WordIndex.forget`. */
export interface EmptiedRow {
  readonly project: string;
  /** Microseconds. */
  readonly from: string;
  readonly to: string;
  readonly indexed: string;
}

export function emptiedRows(most: number): Sql {
  return sql`SELECT DISTINCT project_id AS project, toString(toUnixTimestamp64Micro(started_from)) AS from,
  toString(toUnixTimestamp64Micro(started_to)) AS to, toString(indexed_to) AS indexed
FROM span_words WHERE complete = 2 LIMIT ${number(most)}`;
}

/** Fills a row again from the spans that are left of it. Spans of other rows may be among them, which does no harm. */
export function refilling({ project, from, to, indexed }: EmptiedRow, withTexts: boolean): Sql {
  return indexing({
    // Every insert was of all versions from the one before.
    after: sql`(SELECT max(indexed_to) FROM span_words WHERE indexed_to < ${number(indexed)})`,
    upTo: Number(indexed),
    where: sql`project_id = ${literal(project)} AND started_at >= fromUnixTimestamp64Micro(${number(from)}, 'UTC') AND started_at <= fromUnixTimestamp64Micro(${number(to)}, 'UTC')`,
    together: Number.MAX_SAFE_INTEGER,
    withTexts,
  });
}

/** The condition that a row is one of some emptied ones. */
export function isEmptied(rows: readonly EmptiedRow[]): Sql {
  const each = rows.map(
    ({ project, from, to, indexed }) =>
      sql`(project_id = ${literal(project)} AND toUnixTimestamp64Micro(started_from) = ${number(from)} AND toUnixTimestamp64Micro(started_to) = ${number(to)} AND indexed_to = ${number(indexed)})`,
  );
  return sql`complete = 2 AND (${join(each, ' OR ')})`;
}
