import type { Property } from '../model/list/statistics.js';
import { identifier, join, sql, type Sql } from '../clickhouse/client/sql.js';
import type { ReadScope } from '../read/scope.js';
import { keysOfTags, textsOfTag } from '../read/tags.js';
import type { Matches } from './compile.js';
import { heldTexts } from './descendant-filters.js';
import { newestScores, textsOfScore } from './newest-scores.js';
import { spanSource, type ListSource } from './sources.js';

/** The objects that a query finds, as statements about all of them read them. */
export interface Objects {
  readonly source: ListSource;
  readonly scope: ReadScope;
  readonly matches: Matches;
}

/** Columns of {@link Objects} that are named otherwise than those of the table, which conditions are about. */
export type Columns = Readonly<Record<string, Sql>>;

/** Columns of the newest score of a name; it has none where its kind is empty. */
export type ScoreColumns = Readonly<Record<string, { readonly name: string; readonly of: (score: Sql) => Sql }>>;

/** One row for each object. @param columns at least one @param scores columns of scores, beside the others */
export function objectRows(objects: Objects, columns: Columns, scores: ScoreColumns = {}): Sql {
  const { matches } = objects;
  if (Object.keys(scores).length > 0)
    return withScores(objects, objectRows(objects, { ...columns, ...OBJECT_ID }), Object.keys(columns), scores);
  return sql`${matches.beginning}SELECT ${named(columns)} ${matches.from}`;
}

/**
 * One row for each object, with its values of a property as texts in the array `texts`. An object without a value has one
 * null. Traces and sessions have the tags by which they are found: their own, and those of anything in them.
 */
export function rowsWithTexts(
  objects: Objects,
  property: Property,
  columns: Columns = {},
  scores: ScoreColumns = {},
): Sql {
  if (property.by === 'score')
    return objectRows(objects, columns, { ...scores, texts: { name: property.name, of: textsOfScore } });
  if (Object.keys(scores).length > 0) {
    const rows = rowsWithTexts(objects, property, { ...columns, ...OBJECT_ID });
    return withScores(objects, rows, ['texts', ...Object.keys(columns)], scores);
  }
  const { source, scope, matches } = objects;
  if (property.by === 'field') {
    const column = source.columns[property.field];
    if (!column) throw new Error(`no column for ${property.field}`);
    return objectRows(objects, { texts: sql`[toString(${column})]`, ...columns });
  }
  const texts = property.by === 'tag' ? textsOfTag(property.key) : keysOfTags;
  if (source === spanSource) return objectRows(objects, { texts: orNull(texts), ...columns });
  const asked = { ids: sql`(${matches.beginning}SELECT id ${matches.from})` };
  const others = Object.keys(columns).map((name) => sql`, object.${identifier(name)}`);
  return sql`SELECT ${orNull(sql`held.held`)} AS texts${join(others, '')}
FROM (${objectRows(objects, { ...OBJECT_ID, ...columns })}) AS object
LEFT JOIN (${heldTexts(source, scope, texts, asked)}) AS held ON held.id = object.object_id`;
}

/** Rows with further columns, of the newest scores of some names. @param rows with an `object_id` each */
function withScores({ source, scope }: Objects, rows: Sql, columns: readonly string[], scores: ScoreColumns): Sql {
  const joined = Object.entries(scores).map(([column, { name, of }], index) => {
    const alias = identifier(`scores_${index}`);
    return {
      selected: sql`${of(alias)} AS ${identifier(column)}`,
      join: sql`LEFT ANY JOIN (${newestScores(source, scope, name)}) AS ${alias} ON ${alias}.scored = object.object_id`,
    };
  });
  const others = columns.map((column) => sql`object.${identifier(column)} AS ${identifier(column)}`);
  return sql`SELECT ${join([...others, ...joined.map(({ selected }) => selected)], ', ')}
FROM (${rows}) AS object
${join(
  joined.map((each) => each.join),
  '\n',
)}`;
}

const OBJECT_ID = { object_id: sql`id` };

const orNull = (texts: Sql) => sql`if(empty(${texts}), [NULL], ${texts})`;

const named = (columns: Columns) =>
  join(
    Object.entries(columns).map(([name, column]) => sql`${column} AS ${identifier(name)}`),
    ', ',
  );
