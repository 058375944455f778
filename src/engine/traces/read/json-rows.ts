import type { Field, FieldType } from '../model/list/fields.js';
import { join, literal, sql, type Sql } from '../clickhouse/client/sql.js';

/** Rows that ClickHouse writes as the JSON objects to be answered. */
export interface JsonRows {
  /** The expressions that are selected. */
  readonly selected: Sql;
  /** The clause FORMAT, which writes the selected values as JSON. */
  readonly format: Sql;
}

type Fields = Readonly<Record<string, Field>>;
type Columns = Readonly<Record<string, Sql>>;

/**
 * One JSON array of rows. The store writes the final bytes, so that a page of megabytes passes through the server without
 * being parsed and written again.
 */
export function jsonArray(fields: Fields, names: readonly string[], columns: Columns): JsonRows {
  const members = names.map((name) => member(fields, name, columns));
  return { selected: selectedBy(members), format: template('[${data}]', objectOf(members, 0), ',\n') };
}

/**
 * Rows of which the server needs to know more than the object, see {@link readJsonLines}.
 * @param extra what it needs to know, of which no text holds a brace, a tab or the end of a line
 */
export function jsonLines(
  fields: Fields,
  names: readonly string[],
  columns: Columns,
  extra: readonly Sql[] = [],
): JsonRows {
  const members = names.map((name) => member(fields, name, columns));
  const before = extra.map((_column, place) => `\${${place}:Raw}\t`).join('');
  const selected = join([...extra, ...(members.length === 0 ? [] : [selectedBy(members)])], ', ');
  return { selected, format: template('${data}', before + objectOf(members, extra.length), '\n') };
}

export interface JsonLine {
  /** The row as a JSON object. */
  readonly row: string;
  readonly extra: readonly string[];
}

/** The rows of an answer that was asked for by {@link jsonLines}. */
export function readJsonLines(answer: string): JsonLine[] {
  if (answer === '') return [];
  // JSON as it is written here has no end of a line within.
  return answer.split('\n').map((line) => {
    const start = line.indexOf('{');
    return { row: line.slice(start), extra: line.slice(0, start).split('\t') };
  });
}

/** One field of the object: its value, and the rule by which the format writes it. */
interface Member {
  readonly name: string;
  readonly value: Sql;
  readonly rule: 'JSON' | 'Raw';
}

function member(fields: Fields, name: string, columns: Columns): Member {
  const field = fields[name];
  const column = columns[name];
  if (!field || !column) throw new Error(`no such field: ${name}`);
  return { name, ...written(field.type, column) };
}

function written(type: FieldType, column: Sql): Omit<Member, 'name'> {
  switch (type) {
    case 'json':
      return { value: sql`if(${column} = '', '{}', ${column})`, rule: 'Raw' };
    case 'text':
    case 'tags':
      // Escapes make up to six bytes of one, and `max_result_bytes` counts what is selected: written by the format, they
      // would pass any limit.
      return { value: sql`toJSONString(${column})`, rule: 'Raw' };
    case 'boolean':
      return { value: sql`toBool(${column})`, rule: 'JSON' };
    default:
      return { value: column, rule: 'JSON' };
  }
}

/** The values of members without aliases: one with a column's name would take its place in WHERE and ORDER BY. */
function selectedBy(members: readonly Member[]): Sql {
  return join(
    members.map(({ value }) => value),
    ', ',
  );
}

/** @param first the place of the first member among the selected columns */
function objectOf(members: readonly Member[], first: number): string {
  return `{${members.map(({ name, rule }, index) => `"${name}":\${${first + index}:${rule}}`).join(',')}}`;
}

/** The clause FORMAT. All settings of JSON are in it, lest a server's profile has others; a raw null is written as in TSV. */
function template(answer: string, row: string, between: string): Sql {
  return sql`FORMAT Template SETTINGS format_template_resultset_format = ${literal(answer)}, format_template_row_format = ${literal(row)}, format_template_rows_between_delimiter = ${literal(between)}, date_time_output_format = 'iso', output_format_json_escape_forward_slashes = 0, output_format_json_quote_64bit_integers = 0, output_format_json_quote_64bit_floats = 0, output_format_json_quote_decimals = 0, format_tsv_null_representation = 'null'`;
}
