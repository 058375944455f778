import type { Property } from '../model/list/statistics.js';
import { identifier, join, sql, type Sql } from '../clickhouse/client/sql.js';
import type { ReadScope } from '../read/scope.js';
import { keysOfTags, textsOfTag } from '../read/tags.js';
import type { Matches } from './compile.js';
import { heldTexts } from './descendant-filters.js';
import { spanSource, type ListSource } from './sources.js';

/** The objects that a query finds, as statements about all of them read them. */
export interface Objects {
  readonly source: ListSource;
  readonly scope: ReadScope;
  readonly matches: Matches;
}

/** Columns of {@link Objects} that are named otherwise than those of the table, which conditions are about. */
export type Columns = Readonly<Record<string, Sql>>;

/** One row for each object. @param columns at least one */
export function objectRows({ matches }: Objects, columns: Columns): Sql {
  return sql`${matches.beginning}SELECT ${named(columns)} ${matches.from}`;
}

/**
 * One row for each object, with its values of a property as texts in the array `texts`. An object without a value has one
 * null. Traces and sessions have the tags by which they are found: their own, and those of anything in them.
 */
export function rowsWithTexts(objects: Objects, property: Property, columns: Columns = {}): Sql {
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
FROM (${objectRows(objects, { object_id: sql`id`, ...columns })}) AS object
LEFT JOIN (${heldTexts(source, scope, texts, asked)}) AS held ON held.id = object.object_id`;
}

const orNull = (texts: Sql) => sql`if(empty(${texts}), [NULL], ${texts})`;

const named = (columns: Columns) =>
  join(
    Object.entries(columns).map(([name, column]) => sql`${column} AS ${identifier(name)}`),
    ', ',
  );
