import type { Version } from '../commit/version-clock.js';
import { stringLiteral } from '../engine/literals.js';
import { FIGURES, TOKENS, WORDS } from './searched-words.js';

/*
 * The statements that make rows of `span_words`.
 */

/** Fewer spans of a project than this, if they are not large, are read as quickly as their words. */
const MIN_SPANS = 512;
const MIN_BYTES = 8 * 1024 * 1024;
/** Words that take more than this share of the texts are not kept: they are ids or numbers, or a language without spaces. */
const MAX_SHARE = 1 / 8;

export const COLUMNS = 'project_id, started_from, started_to, spans, indexed_to, complete, words, figures';

export interface Indexing {
  /** SQL: the version after which it begins. */
  readonly after: string;
  readonly upTo: Version;
  /** SQL: which of these versions; default: all. */
  readonly where?: string;
  /** About how many make a row. */
  readonly together: number;
  /** Without them, any text may be there. */
  readonly withTexts: boolean;
}

/**
 * Rows for the versions after one up to another: one insert, whole or not at all. Versions that were replaced or deleted
 * since are left out: what was deleted must leave no words.
 */
export function indexing({ after, upTo, where = '1', together, withTexts }: Indexing): string {
  return `INSERT INTO span_words (${COLUMNS})
WITH ${WORDS} AS all_words, ${FIGURES} AS all_figures,
  (spans >= ${MIN_SPANS} OR bytes >= ${MIN_BYTES}) AND length(all_words) + length(all_figures) <= bytes * ${MAX_SHARE} AS worthwhile
SELECT project_id, started_from, started_to, spans, ${upTo}, worthwhile, if(worthwhile, all_words, ''), if(worthwhile, all_figures, '')
FROM (
  SELECT project_id, min(started_at) AS started_from, max(started_at) AS started_to, count() AS spans,
    sum(length(payload)) AS bytes, ${TOKENS} AS tokens
  FROM (
    SELECT project_id, started_at, payload, intDiv(rowNumberInAllBlocks(), ${together}) AS part FROM (
      SELECT project_id, started_at, ${withTexts ? 'payload' : "''"} AS payload FROM spans
      WHERE ver > ${after} AND ver <= ${upTo} AND ${where}
        AND ver NOT IN (SELECT ver FROM superseded WHERE ver > ${after} AND ver <= ${upTo})
      ORDER BY project_id, started_at
    )
  )
  GROUP BY project_id, part
)`;
}

/** A row whose words a deletion took out, and which says nothing from then on, see `WordIndex.forget`. */
export interface EmptiedRow {
  readonly project: string;
  /** Microseconds. */
  readonly from: string;
  readonly to: string;
  readonly indexed: string;
}

export function emptiedRows(most: number): string {
  return `SELECT DISTINCT project_id AS project, toString(toUnixTimestamp64Micro(started_from)) AS from,
  toString(toUnixTimestamp64Micro(started_to)) AS to, toString(indexed_to) AS indexed
FROM span_words WHERE complete = 2 LIMIT ${most}`;
}

/** A row with what is left of its spans. Those of other rows may be among them, which does no harm. */
export function refilling({ project, from, to, indexed }: EmptiedRow, withTexts: boolean): string {
  return indexing({
    // Every insert was of all versions from the one before.
    after: `(SELECT max(indexed_to) FROM span_words WHERE indexed_to < ${indexed})`,
    upTo: Number(indexed),
    where: `project_id = ${stringLiteral(project)} AND started_at >= fromUnixTimestamp64Micro(${from}, 'UTC') AND started_at <= fromUnixTimestamp64Micro(${to}, 'UTC')`,
    together: Number.MAX_SAFE_INTEGER,
    withTexts,
  });
}

/** A condition: the row is one of these. */
export function isEmptied(rows: readonly EmptiedRow[]): string {
  const each = rows.map(
    ({ project, from, to, indexed }) =>
      `(project_id = ${stringLiteral(project)} AND toUnixTimestamp64Micro(started_from) = ${from} AND toUnixTimestamp64Micro(started_to) = ${to} AND indexed_to = ${indexed})`,
  );
  return `complete = 2 AND (${each.join(' OR ')})`;
}
