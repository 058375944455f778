import type { SpanRead } from '../../domain/list/fields.js';
import type { CalculatedSpan } from '../../domain/price/calculated-spans.js';
import { PASSING_ON } from '../../domain/model-name.js';
import type { RepriceScope } from '../../domain/price/reprice-job.js';
import { PRICED_KINDS, USAGE_ATTRIBUTES } from '../../domain/span/pricing.js';
import type { Span } from '../../domain/span/span.js';
import { parseTimestamp } from '../../domain/time/timestamp.js';
import { join, sql, value, type Sql } from './client/sql.js';
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

/** Spans of priced kinds whose cost was not sent. Of a provider or model, those that may be meant: what is, the domain says. */
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
  const { project_id: _project, has_error: _error, created_at: _created, started_at, ended_at, ...rest } = read;
  return {
    ...rest,
    started_at: parseTimestamp(started_at) ?? 0,
    ended_at: ended_at === null ? null : (parseTimestamp(ended_at) ?? null),
  };
}
