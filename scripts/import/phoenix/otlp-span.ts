import { isMembers, membersIn, membersOf, textOf, unfolded, type Members } from '../members.js';
import { MARK } from '../step.js';

/** The mark of what comes from Phoenix. */
export const PHOENIX = 'phoenix';

/** A span of Phoenix as OTLP says it, of which the server makes what it makes of those that applications send. */
export interface OtlpSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly isRoot: boolean;
  readonly isCall: boolean;
  readonly startedAt: number;
  readonly json: string;
}

const STATUSES: Readonly<Record<string, number>> = { OK: 1, ERROR: 2 };
const SPAN_ID = /^[0-9a-f]{16}$/;
const TRACE_ID = /^[0-9a-f]{32}$/;

/** Null: it has no ids of OpenTelemetry, or no start. */
export function otlpSpanOf(span: Members): OtlpSpan | null {
  const context = membersOf(span['context']);
  const traceId = textOf(context['trace_id'])?.toLowerCase() ?? '';
  const spanId = textOf(context['span_id'])?.toLowerCase() ?? '';
  const [start, end] = [nanosOf(span['start_time']), nanosOf(span['end_time'])];
  if (!TRACE_ID.test(traceId) || !SPAN_ID.test(spanId) || start === null) return null;
  const parentSpanId = textOf(span['parent_id'])?.toLowerCase() ?? '';
  const kind = textOf(span['span_kind'])?.toUpperCase() ?? 'UNKNOWN';
  const attributes: Members = { ...flat(membersOf(span['attributes'])), 'openinference.span.kind': kind };
  const json = JSON.stringify({
    ...{ traceId, spanId, name: textOf(span['name']) ?? 'span', kind: 1 },
    ...(SPAN_ID.test(parentSpanId) && { parentSpanId }),
    ...{ startTimeUnixNano: String(start), endTimeUnixNano: String(end ?? start) },
    status: { code: STATUSES[textOf(span['status_code']) ?? ''] ?? 0, message: textOf(span['status_message']) ?? '' },
    attributes: listOf({ ...attributes, metadata: marked(attributes['metadata']) }),
    events: eventsOf(span['events']),
  });
  const startedAt = Number(start / 1_000_000n);
  return {
    traceId,
    spanId,
    isRoot: parentSpanId === '',
    isCall: kind === 'LLM' || kind === 'EMBEDDING',
    startedAt,
    json,
  };
}

/** Metadata of OpenInference is a text of JSON: of it, short values become tags. */
function marked(metadata: unknown): string {
  const said = unfolded(metadata);
  return JSON.stringify({ [MARK]: PHOENIX, ...(isMembers(said) ? said : said == null ? {} : { metadata: said }) });
}

/** Attributes by the names of OpenInference, which Phoenix puts into each other; metadata stay together. */
function flat(attributes: Members, before = ''): Record<string, unknown> {
  const found: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(attributes)) {
    const path = before + name;
    const isList = Array.isArray(value) && value.some(isMembers);
    if (value === null || value === undefined) continue;
    if (path !== 'metadata' && (isMembers(value) || isList)) {
      const members = isList ? Object.fromEntries(Object.entries(value as unknown[])) : (value as Members);
      Object.assign(found, flat(members, `${path}.`));
    } else found[path] = value;
  }
  return found;
}

function listOf(attributes: Members): object[] {
  return Object.entries(attributes).map(([key, value]) => ({ key, value: valueOf(value) }));
}

function valueOf(value: unknown): object {
  if (typeof value === 'string') return { stringValue: value };
  if (typeof value === 'boolean') return { boolValue: value };
  if (typeof value === 'number') return Number.isInteger(value) ? { intValue: String(value) } : { doubleValue: value };
  if (Array.isArray(value)) return { arrayValue: { values: value.map(valueOf) } };
  return { stringValue: JSON.stringify(value) };
}

function eventsOf(events: unknown): object[] {
  return membersIn(events).map(({ name, timestamp, attributes }) => ({
    name: textOf(name) ?? 'event',
    timeUnixNano: String(nanosOf(timestamp) ?? 0n),
    attributes: listOf(membersOf(attributes)),
  }));
}

/** A time of ISO 8601, to the nanosecond; null: it is none. */
function nanosOf(value: unknown): bigint | null {
  const text = textOf(value)?.replace(' ', 'T') ?? '';
  const [, whole = '', fraction = '', zone = ''] = /^([^.Z+]*?)(?:\.(\d+))?(Z|[+-]\d{2}:?\d{2})?$/.exec(text) ?? [];
  const seconds = Date.parse(`${whole}${zone === '' ? 'Z' : zone}`);
  if (Number.isNaN(seconds) || seconds < 0) return null;
  return BigInt(seconds) * 1_000_000n + BigInt(fraction.padEnd(9, '0').slice(0, 9));
}
