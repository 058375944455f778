import type { SpanRead } from './model/list/fields.js';
import type { CalculatedSpan, RepriceScope } from './model/prices/calculated-spans.js';
import { PASSING_ON } from '../models/model-name.js';
import { PRICED_KINDS, USAGE_ATTRIBUTES } from './model/span/usage.js';
import type { Span } from './model/span/span.js';
import { callIn } from './model/span/span-call.js';
import { parseTimestamp } from '../timestamp.js';
import { join, literal, sql, value, type Sql } from './clickhouse/client/sql.js';
import { inProject, type ReadScope } from './read/scope.js';
import { moment } from './read/times.js';
import { current } from './read/visibility.js';

/** A span with a calculated cost, as a page of them reads it. */
export interface PageRow {
  readonly version: string;
  readonly trace: string;
  readonly span: string;
  readonly kind: string;
  readonly started: string;
  readonly amount: string | null;
  /** JSON texts of the attributes that a price depends on; empty: not there. */
  readonly usage: readonly string[];
  readonly bytes: string;
}

/** The bytes of a row, roughly. */
export const roughBytes = sql`length(attributes) + length(ifNull(input_data, '')) + length(ifNull(output_data, '')) + length(ifNull(error_stack, '')) + 1000`;

const usage = USAGE_ATTRIBUTES.map((name) => sql`JSONExtractRaw(attributes, ${literal(name)})`);

/** What a {@link PageRow} is selected by. */
export const pageColumns = sql`toString(ver) AS version, toString(trace_id) AS trace, toString(id) AS span, kind,
  toString(toUnixTimestamp64Micro(started_at)) AS started, toString(cost) AS amount, [${join(usage, ', ')}] AS usage,
  toString(${roughBytes}) AS bytes`;

/** Spans of priced kinds whose cost was not sent. Of a provider or model, more than are meant: the caller decides. */
export function calculated(read: ReadScope, scope: RepriceScope): Sql {
  const conditions = [
    inProject(read.projectId),
    sql`kind IN ${value([...PRICED_KINDS], 'Array(String)')}`,
    sql`(cost_calculated OR isNull(cost))`,
    ...(scope.started_after === null ? [] : [sql`started_at >= ${moment(scope.started_after)}`]),
    ...(scope.started_before === null ? [] : [sql`started_at <= ${moment(scope.started_before)}`]),
    ...(scope.provider === null ? [] : [ofProvider(scope.provider)]),
    ...(scope.model === null ? [] : [ofModel(scope.model)]),
    current(read),
  ];
  return join(conditions, ' AND ');
}

const attribute = (name: string) => sql`lower(JSONExtractString(attributes, ${value(name, 'String')}))`;

function ofProvider(provider: string): Sql {
  const stated = ['', ...PASSING_ON, provider];
  return sql`${attribute('provider')} IN arrayMap(x -> lower(x), ${value(stated, 'Array(String)')})`;
}

/** With anything in front: whatever stands before the last slash may be a provider. */
function ofModel(name: string): Sql {
  const model = sql`lower(${value(name.slice(name.lastIndexOf('/') + 1), 'String')})`;
  return sql`(${attribute('model')} = ${model} OR endsWith(${attribute('model')}, concat('/', ${model})))`;
}

/** The span of a row. */
export function toCalculatedSpan(row: PageRow): CalculatedSpan {
  const usage = USAGE_ATTRIBUTES.flatMap((name, index) => {
    const json = row.usage[index] ?? '';
    return json === '' ? [] : [[name, JSON.parse(json) as unknown]];
  });
  return {
    version: Number(row.version),
    trace_id: row.trace,
    id: row.span,
    kind: row.kind,
    started_at: Number(row.started),
    cost: row.amount === null ? null : Number(row.amount),
    attributes: Object.fromEntries(usage) as Record<string, unknown>,
    bytes: Number(row.bytes),
  };
}

/** The stored span of an answered one. */
export function toSpan(read: SpanRead): Span {
  const { started_at, ended_at, ...fields } = read;
  return {
    ...fields,
    call: callIn(read),
    started_at: parseTimestamp(started_at) ?? 0,
    ended_at: ended_at === null ? null : (parseTimestamp(ended_at) ?? null),
  };
}
