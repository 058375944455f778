import type { namedFields } from '../model/list/fields.js';
import type { ListQuery } from '../model/list/query.js';
import { empty, join, number, sql, type Sql } from '../clickhouse/client/sql.js';
import { excerpt } from '../read/excerpt.js';
import type { ReadRows } from '../read/row-reader.js';
import type { ReadScope } from '../read/scope.js';
import { storedOf, storedRows } from './newest-scores.js';
import { objectScores } from './object-scores.js';
import { idSet } from './rows.js';
import { spanSource, type ListSource } from './sources.js';

/** Names of scores that a row shows. */
export const MAX_SHOWN_SCORES = 100;
/** Characters of a text, unless the query says how many. */
const SHOWN_TEXT = 1_000;
const FIELD = 'scores' satisfies keyof typeof namedFields;
const COLUMNS = ['name', 'kind', 'number', 'text'] as const;

/** Whether a query wants the scores of its objects, which are looked up for the rows of a page alone. */
export function showsScores({ fields }: Pick<ListQuery, 'fields'>): boolean {
  return fields?.includes(FIELD) ?? false;
}

/** A query that does not. */
export function withoutScores<T extends Pick<ListQuery, 'fields'>>(query: T): T {
  return showsScores(query) ? { ...query, fields: query.fields?.filter((field) => field !== FIELD) ?? null } : query;
}

/** A row of {@link withoutScores}, and the id of its object. */
export interface Unscored {
  readonly id: string;
  readonly row: string;
}

/** Rows of a page as JSON objects, each with its scores behind all others. */
export async function withScores(
  source: ListSource,
  scope: ReadScope,
  query: ListQuery,
  rows: readonly Unscored[],
  read: ReadRows,
): Promise<string[]> {
  if (!showsScores(query) || rows.length === 0) return rows.map(({ row }) => row);
  const ids = rows.map(({ id }) => id);
  const statement = shownOf(query, scoresOf(source, scope, ids));
  const found =
    scope.scoreNames?.length === 0
      ? []
      : await read<{ id: string; scores: string }>(
          sql`SELECT toString(shown_of) AS id, shown_scores AS scores FROM (${statement})`,
        );
  const scores = new Map(found.map((each) => [each.id, each.scores]));
  return rows.map(
    ({ id, row }) => `${row.slice(0, -1)}${row === '{}' ? '' : ','}"${FIELD}":${scores.get(id) ?? '{}'}}`,
  );
}

/**
 * What spans are joined with to show their scores: `shown_scores`, a JSON object of the newest of each name.
 * @param ids a set: those of the rows
 */
export function shownScoresJoin(scope: ReadScope, query: ListQuery, ids: Sql): Sql {
  if (!showsScores(query)) return empty;
  const scores = objectScores(spanSource, scope, { columns: COLUMNS, ids });
  return sql` LEFT ANY JOIN (
  ${shownOf(query, scores)}
) AS objects_with_scores ON objects_with_scores.shown_of = id`;
}

function shownOf(query: ListQuery, scores: Sql): Sql {
  return sql`SELECT shown_of, concat('{', arrayStringConcat(arraySort(groupArray(member)), ','), '}') AS shown_scores FROM (
    SELECT scored AS shown_of, concat(toJSONString(name), ':', ${jsonValue(query)}) AS member FROM (
      SELECT * FROM (${scores}) ORDER BY scored, name, ver DESC LIMIT 1 BY scored, name
    ) ORDER BY shown_of, name LIMIT ${number(MAX_SHOWN_SCORES)} BY shown_of
  ) GROUP BY shown_of`;
}

/** Scores of some objects, of each name at least the newest: stored ones of the names of which these are, the others computed. */
function scoresOf(source: ListSource, scope: ReadScope, ids: readonly string[]): Sql {
  const { scoreNames } = scope;
  const asked = { columns: COLUMNS, ids: idSet(ids) };
  if (scoreNames === undefined) return objectScores(source, scope, asked);
  const stored = scoreNames.flatMap((name) => {
    const of = storedOf(source, scope, name);
    return of === undefined ? [] : [{ name, of }];
  });
  if (stored.length === 0) return objectScores(source, scope, { ...asked, names: scoreNames });
  const names = stored.map(({ name }) => name);
  const others = scoreNames.filter((name) => !names.includes(name));
  const changed = new Set(stored.flatMap(({ of }) => of.changed));
  const [again, still] = [ids.filter((id) => changed.has(id)), ids.filter((id) => !changed.has(id))];
  const computed = (given: { readonly names: readonly string[]; readonly ids: readonly string[] }) =>
    given.names.length === 0 || given.ids.length === 0
      ? []
      : [objectScores(source, scope, { columns: COLUMNS, names: given.names, ids: idSet(given.ids) })];
  const each = [
    ...(still.length === 0 ? [] : stored.map(({ name, of }) => storedRows(source, scope, name, of, idSet(still)))),
    ...computed({ names: others, ids }),
    ...computed({ names, ids: again }),
  ];
  return join(
    each.map((rows) => sql`SELECT scored, ver, name, kind, number, text FROM (${rows})`),
    '\n  UNION ALL\n  ',
  );
}

function jsonValue({ textLimit }: ListQuery): Sql {
  return sql`multiIf(kind = 'boolean', if(number = 1, 'true', 'false'), kind = 'numeric', toString(assumeNotNull(number)),
      toJSONString(${excerpt(sql`text`, textLimit ?? SHOWN_TEXT)}))`;
}
