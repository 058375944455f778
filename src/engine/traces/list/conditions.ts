import type { AppliedFilter, FilterValue, ListQuery } from '../model/list/query.js';
import type { FieldType } from '../model/list/fields.js';
import { EPOCH_SECONDS } from '../write/version-clock.js';
import { decimalText } from '../clickhouse/client/decimal.js';
import { startedWithin, type TimeRange } from '../read/times.js';
import { unpriced } from '../read/unpriced.js';
import { ERROR_TEXTS } from '../search/searched-words.js';
import { occursIn } from '../search/text-match.js';
import { empty, join, sql, value, type Sql } from '../clickhouse/client/sql.js';
import { spanSource, type ListSource } from './sources.js';

const PAYLOAD_PARTS = [sql`input_data`, sql`output_data`];

/** The filters of a query, as SQL conditions over the list's columns; `inSession`, which is about other rows, is not among them. */
export function conditions({ filters }: Pick<ListQuery, 'filters'>, source: ListSource): Sql[] {
  return filters
    .filter(({ filter }) => filter.comparison !== 'inSession' && filter.ofSpans !== true)
    .map((applied) => conditionOf(applied, source));
}

/** The filters of a query of traces or sessions that a span in them has to meet, as conditions over the columns of spans. */
export function spanConditions({ filters }: Pick<ListQuery, 'filters'>): Sql[] {
  return filters.filter(({ filter }) => filter.ofSpans === true).map((applied) => conditionOf(applied, spanSource));
}

/** One filter as a condition. */
export function conditionOf(applied: AppliedFilter, source: ListSource): Sql {
  const { field } = applied.filter;
  if (field === 'created_at') return createdAt(applied, source);
  if (applied.filter.comparison === 'unpriced')
    return applied.values[0] === 'no_provider' ? sql`(${unpriced} AND spans.provider = '')` : sql`(${unpriced})`;
  const column = source.columns[field];
  if (!column) throw new Error(`no column for ${field}`);
  return compare(applied, column, parameterOf(source.list.fields[field]?.type ?? 'text'));
}

/**
 * Finds a text in input, output or error, whatever its case: in input and output at once first, then not across the border
 * of the two.
 *
 * @param within when the spans started in which it may occur; default: at any time.
 */
export function textFound(text: string, within?: readonly TimeRange[]): Sql {
  const near = within === undefined ? empty : sql`${startedWithin(within)} AND `;
  const found = (column: Sql) => occursIn(column, text);
  const either = (columns: readonly Sql[]) =>
    join(
      columns.map((column) => sql`(${found(sql`ifNull(${column}, '')`)})`),
      ' OR ',
    );
  return sql`(${near}((${found(sql`payload`)} AND (${either(PAYLOAD_PARTS)})) OR ${either(ERROR_TEXTS)}))`;
}

/** Versions only grow, so that no row is younger than its own version, whose index serves. */
function createdAt(applied: AppliedFilter, { createdVersion, list }: ListSource): Sql {
  const condition = compare(applied, createdVersion, version);
  const indexed = list.name === 'spans' && applied.filter.comparison === 'atLeast';
  return indexed ? sql`${compare(applied, sql`ver`, version)} AND ${condition}` : condition;
}

/** Models by their names, or by their names behind those of their providers. */
function anyModel(values: readonly FilterValue[], column: Sql): Sql {
  const names = values.map(String);
  const text = (of: string) => sql`${value(of, 'String')}`;
  const plain = sql`${column} IN (${join(names.map(text), ', ')})`;
  const prefixed = names.flatMap((name) => {
    const slash = name.indexOf('/');
    return slash === -1 ? [] : [sql`(${text(name.slice(0, slash))}, ${text(name.slice(slash + 1))})`];
  });
  return prefixed.length === 0 ? plain : sql`(${plain} OR (provider, model) IN (${join(prefixed, ', ')}))`;
}

type Parameter = (of: FilterValue) => Sql;

function compare({ filter, values }: AppliedFilter, column: Sql, parameter: Parameter): Sql {
  const [first = null] = values;
  switch (filter.comparison) {
    case 'anyOf':
      return sql`${column} IN (${join(values.map(parameter), ', ')})`;
    case 'anyModel':
      return anyModel(values, column);
    case 'isOrNull':
      return first === null ? sql`isNull(${column})` : sql`${column} = ${parameter(first)}`;
    case 'isSet':
      return sql`isNotNull(${column})`;
    case 'is':
      return sql`${column} = ${parameter(first)}`;
    case 'atLeast':
      return sql`${column} >= ${parameter(first)}`;
    case 'atMost':
      return sql`${column} <= ${parameter(first)}`;
    case 'inSession':
    case 'unpriced':
      throw new Error('it is about more than one column');
  }
}

function parameterOf(type: FieldType): Parameter {
  switch (type) {
    case 'id':
      return (of) => sql`${value(of, 'UUID')}`;
    case 'boolean':
      return (of) => sql`${value(of === true ? 1 : 0, 'UInt8')}`;
    case 'number':
    case 'integer':
      return (of) => sql`${value(of, 'Float64')}`;
    case 'money':
      return money;
    case 'time':
      return (of) => sql`fromUnixTimestamp64Micro(${value(of, 'Int64')}, 'UTC')`;
    default:
      return (of) => sql`${value(of, 'String')}`;
  }
}

function version(moment: FilterValue): Sql {
  return sql`${value(Number(moment) - EPOCH_SECONDS * 1_000_000, 'Int64')}`;
}

/** A bound of costs, as a decimal, so that 0.1 takes in a cost of 0.1; no cost lies beyond the clamped bound. */
function money(bound: FilterValue): Sql {
  const held = Math.max(-1e20, Math.min(1e20, Number(bound)));
  return sql`${value(decimalText(held), 'Decimal(38, 12)')}`;
}
