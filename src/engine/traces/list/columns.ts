import type { Field } from '../model/list/fields.js';
import { sessionFields, spanFields, traceFields, type namedFields } from '../model/list/fields.js';
import { EPOCH_SECONDS } from '../write/version-clock.js';
import { identifier, literal, sql, type Sql } from '../clickhouse/client/sql.js';
import { receivedVersion } from '../read/visibility.js';

const epochMicros = literal(String(EPOCH_SECONDS * 1_000_000));

/** The moment that a version stands for. */
export const momentOf = (version: Sql) =>
  sql`fromUnixTimestamp64Micro(toInt64(${version} + toUInt64(${epochMicros})), 'UTC')`;

const named = <F extends Record<string, Field>>(fields: F) =>
  Object.fromEntries(
    Object.entries(fields).map(([name, { emptyIsNull }]) => [
      name,
      emptyIsNull === true ? sql`nullIf(${identifier(name)}, '')` : identifier(name),
    ]),
  ) as Record<keyof F, Sql>;

/** Where the fields of each list are found. A field without a column does not compile. */
export const spanColumns = {
  ...named(spanFields),
  created_at: momentOf(receivedVersion),
} satisfies Record<keyof typeof spanFields, Sql>;

export const traceColumns = {
  ...named(traceFields),
  has_error: sql`(status = 'error')`,
  created_at: momentOf(sql`created_ver`),
  // Filled in for the rows of a page, from their root spans.
  root_span_input: sql`CAST(NULL, 'Nullable(String)')`,
  root_span_output: sql`CAST(NULL, 'Nullable(String)')`,
  root_span_error: sql`CAST(NULL, 'Nullable(String)')`,
} satisfies Record<keyof typeof traceFields, Sql>;

export const sessionColumns = {
  ...named(sessionFields),
  has_error: sql`(error_count > 0)`,
  created_at: momentOf(sql`created_ver`),
} satisfies Record<keyof typeof sessionFields, Sql>;

/** Columns of what a page is joined with where its fields name them. */
export const namedColumns = { scores: sql`shown_scores` } satisfies Record<keyof typeof namedFields, Sql>;
