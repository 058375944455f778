import type { Excerpt, JudgedSpan } from '../model/judged/span-reader.js';
import type { SpanStatus } from '../model/span/span.js';
import { sql, value, type Sql } from '../clickhouse/client/sql.js';
import { excerpt } from '../read/excerpt.js';
import { toTraits, traitColumns, type TraitRow } from './span-rows.js';

/** The most bytes of attributes, and of tags, that are read: larger ones are of no use to a judge. */
const MAX_ATTRIBUTES = 20_000;

/** The columns of `JudgedSpanRow`. @param max characters of an input or output, of which the middle is left out beyond */
export function judgedColumns(max: number): Sql {
  return sql`${traitColumns(false, { upTo: MAX_ATTRIBUTES })}, status, duration_ms, leftUTF8(error_code, 1000) AS error_code, leftUTF8(error_message, 10000) AS message,
  ${excerpt(sql`input_data`, max)} AS input, ${excerpt(sql`output_data`, max)} AS output,
  toString(ifNull(lengthUTF8(input_data), 0)) AS input_length, toString(ifNull(lengthUTF8(output_data), 0)) AS output_length,
  if(length(attributes) > ${value(MAX_ATTRIBUTES, 'UInt64')}, '', attributes) AS attributes_text`;
}

export interface JudgedSpanRow extends TraitRow {
  readonly status: string;
  readonly duration_ms: number | null;
  readonly error_code: string | null;
  readonly message: string | null;
  readonly input: string | null;
  readonly output: string | null;
  readonly input_length: string;
  readonly output_length: string;
  readonly attributes_text: string;
}

export function toJudged(row: JudgedSpanRow): JudgedSpan {
  return {
    ...toTraits(row),
    attributes: row.attributes_text === '' ? {} : (JSON.parse(row.attributes_text) as Record<string, unknown>),
    status: row.status === '' ? null : (row.status as SpanStatus),
    duration_ms: row.duration_ms,
    input: toExcerpt(row.input, row.input_length),
    output: toExcerpt(row.output, row.output_length),
    error_code: row.error_code,
    error_message: row.message,
  };
}

function toExcerpt(text: string | null, length: string): Excerpt | null {
  return text === null ? null : { text, length: Number(length) };
}
