import type { Field } from '../../../domain/list/fields.js';
import { join, literal, sql, type Sql } from '../client/sql.js';

/**
 * An expression that renders a row as the JSON object to be answered. The store writes the final bytes, so that a page
 * of megabytes passes through the server without being parsed and written again.
 */
export function jsonRow(
  fields: Readonly<Record<string, Field>>,
  names: readonly string[],
  columns: Readonly<Record<string, Sql>>,
): Sql {
  const members = names.map((name, index) => {
    const field = fields[name];
    const column = columns[name];
    if (!field || !column) throw new Error(`no such field: ${name}`);
    return sql`${literal(`${index === 0 ? '{' : ','}"${name}":`)}, ${jsonValue(field, column)}`;
  });
  return members.length === 0 ? literal('{}') : sql`concat(${join(members, ', ')}, '}')`;
}

function jsonValue({ type, nullable }: Field, column: Sql): Sql {
  switch (type) {
    case 'json':
      return sql`if(${column} = '', '{}', ${column})`;
    case 'boolean':
      return sql`if(${column}, 'true', 'false')`;
    case 'id':
      return orNull(nullable, column, sql`concat('"', toString(${column}), '"')`);
    case 'time':
      return orNull(nullable, column, sql`concat('"', replaceOne(toString(${column}), ' ', 'T'), 'Z"')`);
    case 'number':
    case 'integer':
    case 'money':
      return orNull(nullable, column, sql`toString(${column})`);
    default:
      return orNull(nullable, column, sql`toJSONString(${column})`);
  }
}

function orNull(nullable: boolean, column: Sql, rendered: Sql): Sql {
  return nullable ? sql`if(isNull(${column}), 'null', assumeNotNull(${rendered}))` : rendered;
}

/** Has ClickHouse put the rows, each one a rendered object, into one JSON array. */
export const JSON_ARRAY_FORMAT = sql`FORMAT CustomSeparated SETTINGS format_custom_escaping_rule = 'Raw', format_custom_result_before_delimiter = '[', format_custom_result_after_delimiter = ']', format_custom_row_before_delimiter = '', format_custom_row_after_delimiter = '', format_custom_row_between_delimiter = ',\n'`;
