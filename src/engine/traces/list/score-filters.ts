import { SCORE_PREFIX, type ListQuery } from '../model/list/query.js';
import { empty, join, sql, value, type Sql } from '../clickhouse/client/sql.js';
import { inProject, type ReadScope } from '../read/scope.js';
import { latestScores } from '../score/latest.js';
import { memberships } from './membership.js';
import { spanSource, traceSource, type ListSource } from './sources.js';

/*
 * What the objects of a list are found and sorted by, of their scores: of each name the newest, whoever gave it. A trace has the
 * scores of its spans as well, a session those of its traces, as with tags.
 */

/** The conditions that a query puts on the scores of the objects of a list. */
export function scoreConditions(source: ListSource, scope: ReadScope, { scores }: Pick<ListQuery, 'scores'>): Sql[] {
  return [...scores].map(([name, { values, min, max }]) => {
    const conditions = [
      ...(values === null ? [] : [isAny(values)]),
      ...(min === null ? [] : [sql`number >= ${value(min, 'Float64')}`]),
      ...(max === null ? [] : [sql`number <= ${value(max, 'Float64')}`]),
    ];
    const met = conditions.length === 0 ? empty : sql` WHERE ${join(conditions, ' AND ')}`;
    return sql`id IN (SELECT scored FROM (${newestScores(source, scope, name)})${met})`;
  });
}

/** What a list is joined with to be sorted by scores. Empty: it is not. */
export function scoreJoin(source: ListSource, scope: ReadScope, query: Pick<ListQuery, 'sort'>): Sql {
  const name = scoreSortedBy(query);
  if (name === null) return empty;
  return sql` LEFT ANY JOIN (
  SELECT scored, number AS score_number, toNullable(text) AS score_text FROM (${newestScores(source, scope, name)})
) AS scored_objects ON scored_objects.scored = id`;
}

/** The columns to sort by; null: none of scores. Numbers before texts. */
export function scoreOrder(query: Pick<ListQuery, 'sort'>): readonly Sql[] | null {
  return scoreSortedBy(query) === null ? null : [sql`score_number`, sql`score_text`];
}

/** The name of the scores that a list is sorted by; null: it is sorted by a field. */
function scoreSortedBy({ sort }: Pick<ListQuery, 'sort'>): string | null {
  return sort.startsWith(SCORE_PREFIX) ? sort.slice(SCORE_PREFIX.length) : null;
}

const COLUMNS = ['number', 'text'];

/**
 * Rows of `scored`, the id of an object, and the value of its newest score of a name as `number` or `text`. Spans come in the
 * order of the table: a seventh of the time of an aggregation.
 */
function newestScores(source: ListSource, scope: ReadScope, name: string): Sql {
  return sql`SELECT scored, number, text FROM (${scoresOf(source, scope, name)}) ORDER BY scored, ver DESC LIMIT 1 BY scored`;
}

/** Rows of `scored`, `number`, `text` and `ver`: scores of objects, and of anything in them. */
function scoresOf(source: ListSource, scope: ReadScope, name: string): Sql {
  const type = source === spanSource ? 'span' : source === traceSource ? 'trace' : 'session';
  const among = [sql`entity_type = ${value(type, 'String')}`, sql`name = ${value(name, 'String')}`];
  const own = sql`SELECT entity_id AS scored, number, text, ver FROM (${latestScores(scope, COLUMNS, among)})`;
  if (source === spanSource) return own;
  const inside =
    source === traceSource
      ? sql`SELECT f.trace_id AS scored, s.number AS number, s.text AS text, s.ver AS ver
  FROM (SELECT trace_id, id FROM facts WHERE ${inProject(scope.projectId)} AND row_type = 0 AND NOT deleted AND ver <= ${value(scope.upTo, 'UInt64')}) AS f
  INNER JOIN (${scoresOf(spanSource, scope, name)}) AS s ON s.scored = f.id`
      : sql`SELECT m.session_id AS scored, s.number AS number, s.text AS text, s.ver AS ver
  FROM (${memberships(scope, {})}) AS m INNER JOIN (${scoresOf(traceSource, scope, name)}) AS s ON s.scored = m.trace_id`;
  return sql`${own}
  UNION ALL
  ${inside}`;
}

/** Whether the newest value is one of these, as texts; numbers also where they are written otherwise, true as 1. */
function isAny(values: readonly string[]): Sql {
  const numbers = values.flatMap((text) => numberOf(text) ?? []);
  const texts = sql`(isNull(number) AND text IN (${join(
    values.map((text) => sql`${value(text, 'String')}`),
    ', ',
  )}))`;
  if (numbers.length === 0) return texts;
  return sql`(${texts} OR number IN (${join(
    numbers.map((number) => sql`${value(number, 'Float64')}`),
    ', ',
  )}))`;
}

function numberOf(text: string): number | null {
  if (text === 'true') return 1;
  if (text === 'false') return 0;
  const number = Number(text);
  return text.trim() === '' || !Number.isFinite(number) ? null : number;
}
