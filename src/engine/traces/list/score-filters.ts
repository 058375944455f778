import { SCORE_PREFIX, type ListQuery } from '../model/list/query.js';
import { empty, join, listOf, sql, value, type Sql } from '../clickhouse/client/sql.js';
import { inProject, type ReadScope } from '../read/scope.js';
import { newestScores, repeatedSpans, scoresOfSpans } from './newest-scores.js';
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
    const repeated = ids === undefined ? repeatedSpans(source, scope, name) : undefined;
    if (repeated !== undefined) return sql`id IN (${spansWith(scope, name, asked, repeated)})`;
    const met = conditionOn(asked);
    return sql`id IN (SELECT scored FROM (${newestScores(source, scope, name, { ids })}) WHERE ${met})`;
  });
}

/** Whether of all names that spans are found by it is known which of them have several rows. */
export function knowsRepeated({ repeated }: ReadScope, { scores }: Pick<ListQuery, 'scores'>): boolean {
  return [...scores.keys()].every((name) => repeated?.has(name) === true);
}

/** Ids of spans by their newest scores. Numbers are found in the order of values, for which no other column may be read. */
function spansWith(scope: ReadScope, name: string, asked: ScoreAsked, repeated: readonly string[]): Sql {
  const [single, ...others] = scoresOfSpans(scope, name, repeated);
  const { numbers, texts } = conditionsOn(asked);
  const rows = [
    ...(numbers === null ? [] : [sql`SELECT entity_id FROM scores WHERE ${single} AND ${numbers}`]),
    ...(texts === null ? [] : [sql`SELECT entity_id FROM scores WHERE ${single} AND NOT deleted AND ${texts}`]),
    ...others.map((newest) => sql`SELECT scored FROM (${newest}) WHERE ${conditionOn(asked)}`),
  ];
  return join(rows, '\n  UNION ALL\n  ');
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

function conditionOn(asked: ScoreAsked): Sql {
  const { numbers, texts } = conditionsOn(asked);
  const all = [numbers, texts].flatMap((condition) => (condition === null ? [] : [sql`(${condition})`]));
  return all.length === 0 ? sql`0` : sql`(${join(all, ' OR ')})`;
}

/** Conditions of which a score meets one; null: none of numbers, or of texts, can be as asked. */
function conditionsOn({ values, min, max }: ScoreAsked): { readonly numbers: Sql | null; readonly texts: Sql | null } {
  const range = [
    ...(min === null ? [] : [sql`number >= ${value(min, 'Float64')}`]),
    ...(max === null ? [] : [sql`number <= ${value(max, 'Float64')}`]),
  ];
  if (values === null)
    return range.length === 0
      ? { numbers: sql`isNotNull(number)`, texts: sql`isNull(number)` }
      : { numbers: join(range, ' AND '), texts: null };
  const numbers = values.flatMap((text) => numberOf(text) ?? []);
  const among = sql`number IN (${join(
    numbers.map((number) => sql`${value(number, 'Float64')}`),
    ', ',
  )})`;
  const texts = sql`isNull(number) AND text IN (${join(
    values.map((text) => sql`${value(text, 'String')}`),
    ', ',
  )})`;
  return {
    numbers: numbers.length === 0 ? null : join([among, ...range], ' AND '),
    texts: range.length === 0 ? texts : null,
  };
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

/** A value that is written as a number; true is 1. */
function numberOf(text: string): number | null {
  if (text === 'true') return 1;
  if (text === 'false') return 0;
  const number = Number(text);
  return text.trim() === '' || !Number.isFinite(number) ? null : number;
}
