import type { AppliedFilter, FilterValue, ListQuery } from '../../../domain/list/query.js';
import type { Field, FieldType } from '../../../domain/list/fields.js';
import { join, sql, value, type Sql } from '../sql.js';

/** What a query asks of a row, as SQL conditions over the list's columns. */
export function conditions(
  query: Pick<ListQuery, 'filters' | 'tags'>,
  fields: Readonly<Record<string, Field>>,
  columns: Readonly<Record<string, Sql>>,
): Sql[] {
  const byField = query.filters.map((applied) => {
    const { field } = applied.filter;
    const column = columns[field];
    if (!column) throw new Error(`no column for ${field}`);
    return compare(applied, column, fields[field]?.type ?? 'text');
  });
  return [...byField, ...[...query.tags].map(([key, values]) => tagged(key, values))];
}

function compare({ filter, values }: AppliedFilter, column: Sql, type: FieldType): Sql {
  const [first = null] = values;
  switch (filter.comparison) {
    case 'anyOf':
      return sql`${column} IN (${join(values.map((item) => sql`${parameter(item, type)}`), ', ')})`;
    case 'isOrNull':
      if (first === null) return sql`isNull(${column})`;
      return sql`${column} = ${parameter(first, type)}`;
    case 'is':
      return sql`${column} = ${parameter(first, type)}`;
    case 'atLeast':
      return sql`${column} >= ${parameter(first, type)}`;
    case 'atMost':
      return sql`${column} <= ${parameter(first, type)}`;
  }
}

function parameter(of: FilterValue, type: FieldType): Sql {
  switch (type) {
    case 'id':
      return sql`${value(of, 'UUID')}`;
    case 'time':
      return sql`fromUnixTimestamp64Micro(${value(of, 'Int64')})`;
    case 'boolean':
      return sql`${value(of === true ? 1 : 0, 'UInt8')}`;
    case 'number':
    case 'integer':
      return sql`${value(of, 'Float64')}`;
    case 'money':
      return money(Number(of));
    default:
      return sql`${value(of, 'String')}`;
  }
}

/** Compared as decimals, so that a bound of 0.1 takes in a cost of 0.1; no cost lies beyond what decimals hold. */
function money(bound: number): Sql {
  const held = Math.max(-1e20, Math.min(1e20, bound));
  return sql`${value(held.toFixed(12), 'Decimal(38, 12)')}`;
}

/** The test over all values lets the bloom filter skip what cannot match. */
function tagged(key: string, values: readonly string[]): Sql {
  const k = value(key, 'String');
  const v = value(values, 'Array(String)');
  return sql`(mapContains(tags, ${k}) AND has(${v}, tags[${k}]) AND hasAny(mapValues(tags), ${v}))`;
}

export function allOf(parts: readonly Sql[]): Sql {
  return join(parts, '\n  AND ');
}
