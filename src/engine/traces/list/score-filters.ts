import { SCORE_PREFIX, type ListQuery } from '../model/list/query.js';
import { empty, join, listOf, sql, value, type Sql } from '../clickhouse/client/sql.js';
import { inProject, type ReadScope } from '../read/scope.js';
import { newestScores } from './newest-scores.js';
import { spanSource, type ListSource } from './sources.js';

type ScoreAsked = ListQuery['scores'] extends ReadonlyMap<string, infer Asked> ? Asked : never;

/* What the objects of a list are found and sorted by, of their scores: of each name the newest, whoever gave it. */

/** The conditions that a query puts on the scores of the objects of a list. @param ids a set: the only objects that may be found */
export function scoreConditions(
  source: ListSource,
  scope: ReadScope,
  { scores }: Pick<ListQuery, 'scores'>,
  ids?: Sql,
): Sql[] {
  return [...scores].map(([name, asked]) => {
    const met = conditionOn(asked);
    return sql`id IN (SELECT scored FROM (${newestScores(source, scope, name, { ids })}) WHERE ${met})`;
  });
}

/** Ids of those of some spans whose newest score of a name is as asked. @param ids a set */
export function spansScored(scope: ReadScope, [name, asked]: readonly [string, ScoreAsked], ids: Sql): Sql {
  return sql`SELECT toString(scored) AS id FROM (${newestScores(spanSource, scope, name, { ids })}) WHERE ${conditionOn(asked)}`;
}

/** Conditions that all spans meet which {@link scoreConditions} find, and others: that some score, of any version, is as asked. */
export function spansEverScored({ projectId }: ReadScope, { scores }: Pick<ListQuery, 'scores'>): Sql[] {
  return [...scores].map(
    ([name, asked]) => sql`id IN (SELECT entity_id FROM scores
  WHERE ${inProject(projectId)} AND entity_type = 'span' AND name = ${value(name, 'String')} AND ${conditionOn(asked)})`,
  );
}

function conditionOn({ values, min, max }: ScoreAsked): Sql {
  const conditions = [
    ...(values === null ? [] : [isAny(values)]),
    ...(min === null ? [] : [sql`number >= ${value(min, 'Float64')}`]),
    ...(max === null ? [] : [sql`number <= ${value(max, 'Float64')}`]),
  ];
  return conditions.length === 0 ? sql`1` : join(conditions, ' AND ');
}

/**
 * What a list is joined with to be sorted by scores. Empty: it is not.
 * @param ids as of {@link scoreConditions}
 * @param top only objects whose newest score has one of these versions; absent: all, those without one last
 */
export function scoreJoin(
  source: ListSource,
  scope: ReadScope,
  query: Pick<ListQuery, 'sort'>,
  ids?: Sql,
  top?: { readonly versions: readonly string[] },
): Sql {
  const name = scoreSortedBy(query);
  if (name === null) return empty;
  const kind = top === undefined ? sql`LEFT ANY` : sql`INNER`;
  const among = top === undefined ? empty : sql` WHERE ver IN ${listOf('UInt64', top.versions)}`;
  return sql` ${kind} JOIN (
  SELECT scored, number AS score_number, toNullable(text) AS score_text FROM (${newestScores(source, scope, name, { ids, areMany: top !== undefined && source !== spanSource })})${among}
) AS scored_objects ON scored_objects.scored = id`;
}

/** The columns to sort by; null: none of scores. Numbers before texts. */
export function scoreOrder(query: Pick<ListQuery, 'sort'>): readonly Sql[] | null {
  return scoreSortedBy(query) === null ? null : [sql`score_number`, sql`score_text`];
}

/** The name of the scores that a list is sorted by; null: it is sorted by a field. */
export function scoreSortedBy({ sort }: Pick<ListQuery, 'sort'>): string | null {
  return sort.startsWith(SCORE_PREFIX) ? sort.slice(SCORE_PREFIX.length) : null;
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
