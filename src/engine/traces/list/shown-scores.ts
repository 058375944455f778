import type { namedFields } from '../model/list/fields.js';
import type { ListQuery } from '../model/list/query.js';
import { empty, number, sql, type Sql } from '../clickhouse/client/sql.js';
import { excerpt } from '../read/excerpt.js';
import type { ReadScope } from '../read/scope.js';
import { objectScores } from './object-scores.js';
import type { ListSource } from './sources.js';

/** Names of scores that a row shows. */
export const MAX_SHOWN_SCORES = 100;
/** Characters of a text, unless the query says how many. */
const SHOWN_TEXT = 1_000;

/** Whether a query wants the scores of its objects, which are looked up for the rows of a page alone. */
export function showsScores({ fields }: Pick<ListQuery, 'fields'>): boolean {
  return fields?.includes('scores' satisfies keyof typeof namedFields) ?? false;
}

/**
 * What rows are joined with to show their scores: `shown_scores`, a JSON object of the newest of each name.
 * @param ids a set: those of the rows
 */
export function shownScoresJoin(source: ListSource, scope: ReadScope, query: ListQuery, ids: Sql): Sql {
  if (!showsScores(query)) return empty;
  const columns = ['name', 'kind', 'number', 'text'];
  return sql` LEFT ANY JOIN (
  SELECT shown_of, concat('{', arrayStringConcat(arraySort(groupArray(member)), ','), '}') AS shown_scores FROM (
    SELECT scored AS shown_of, concat(toJSONString(name), ':', ${jsonValue(query)}) AS member FROM (
      SELECT * FROM (${objectScores(source, scope, { columns, ids })}) ORDER BY scored, name, ver DESC LIMIT 1 BY scored, name
    ) ORDER BY shown_of, name LIMIT ${number(MAX_SHOWN_SCORES)} BY shown_of
  ) GROUP BY shown_of
) AS objects_with_scores ON objects_with_scores.shown_of = id`;
}

function jsonValue({ textLimit }: ListQuery): Sql {
  return sql`multiIf(kind = 'boolean', if(number = 1, 'true', 'false'), kind = 'numeric', toString(assumeNotNull(number)),
      toJSONString(${excerpt(sql`text`, textLimit ?? SHOWN_TEXT)}))`;
}
