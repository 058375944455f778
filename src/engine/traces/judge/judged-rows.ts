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
  has_error, toString(experiment_trace) AS made_in, if(length(attributes) > ${value(MAX_ATTRIBUTES, 'UInt64')}, '', attributes) AS attributes_text`;
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
  readonly has_error: 0 | 1;
  /** The trace in which a result was made, if it names one. */
  readonly made_in: string | null;
  readonly attributes_text: string;
}

/** @param shown the output that it has instead of one of its own */
export function toJudged(row: JudgedSpanRow, shown?: ShownOutputRow): JudgedSpan {
  return {
    ...toTraits(row),
    ...(shown !== undefined && {
      ...{ finished: true, has_content: true, shows: { span_id: shown.of_span, trace_id: shown.of_trace } },
    }),
    attributes: row.attributes_text === '' ? {} : (JSON.parse(row.attributes_text) as Record<string, unknown>),
    status: row.status === '' ? null : (row.status as SpanStatus),
    duration_ms: row.duration_ms,
    input: toExcerpt(row.input, row.input_length),
    output:
      shown === undefined ? toExcerpt(row.output, row.output_length) : toExcerpt(shown.output, shown.output_length),
    error_code: row.error_code,
    error_message: row.message,
  };
}

/** The output of the root span of a trace. */
export interface ShownOutputRow extends Pick<JudgedSpanRow, 'output' | 'output_length'> {
  readonly of_span: string;
  readonly of_trace: string;
}

/** The columns of `ShownOutputRow`. */
export function shownOutput(max: number): Sql {
  return sql`toString(id) AS of_span, toString(trace_id) AS of_trace, ${excerpt(sql`output_data`, max)} AS output,
  toString(ifNull(lengthUTF8(output_data), 0)) AS output_length`;
}

/** Whether a span is a result that only names the trace in which it was made: then the output of that is its own. */
export function onlyNamesTrace({ experiment_row, output, has_error, made_in, trace }: JudgedSpanRow): boolean {
  return experiment_row !== '' && output === null && has_error === 0 && made_in !== null && made_in !== trace;
}

function toExcerpt(text: string | null, length: string): Excerpt | null {
  return text === null ? null : { text, length: Number(length) };
}
