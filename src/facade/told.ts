import { DomainError } from '../engine/errors.js';
import { toJsonText } from '../engine/json-text.js';
import { normalizeText } from '../engine/schema/normalize.js';
import type { Micros } from '../engine/timestamp.js';
import type { SaidFields } from '../engine/traces/model/partial/partial-span.js';
import { DEFAULT_KIND } from '../otlp/genai/kind.js';
import { CONTRACT_ATTRIBUTES } from '../otlp/genai/mapping.js';
import { newResource, newScope, newSpan, type Attributes, type AttributeValue } from '../otlp/model.js';
import { toSpans, type MappingLimits } from '../otlp/span.js';

/*
 * What events of other systems say of spans, by the attributes in which their clients say the same over OpenTelemetry: these have
 * one meaning (src/otlp/genai).
 */

/** What an event says, before it is known of which span. */
export interface Told {
  readonly attributes: Attributes;
  /** Whether it says which tokens were used: then it says so of all kinds of them. */
  readonly usage: boolean;
  readonly input: unknown;
  readonly output: unknown;
}

/** Says an attribute, unless there is nothing to say. */
export function tell(attributes: Attributes, name: string, value: unknown): void {
  if (value !== null && value !== undefined) attributes[name] = value as AttributeValue;
}

/** Any time: those of a span come from elsewhere. */
const SOME_TIME: Micros = 1;
const SOME_TRACE = '1'.padStart(32, '0');

/** What events say, or why one says too much: those read together count together, so then each is read alone. */
export function saidBy(events: readonly Told[], limits?: MappingLimits): (SaidFields | string)[] {
  const said = saidTogether(events, limits);
  if (typeof said !== 'string') return said;
  return events.length === 1 ? [said] : events.flatMap((each) => saidBy([each], limits));
}

/** The fields of spans that some events say, in their order, or why not all of them can be read. */
function saidTogether(events: readonly Told[], limits: MappingLimits | undefined): SaidFields[] | string {
  const [resource, scope] = [newResource(), newScope()];
  const spans = events.map(({ attributes }, index) => ({
    ...newSpan(resource, scope),
    ...{ traceId: SOME_TRACE, spanId: (index + 1).toString(16).padStart(16, '0') },
    ...{ start: SOME_TIME, end: SOME_TIME, attributes },
  }));
  try {
    const { spans: mapped, rejected } = toSpans({ spans }, limits);
    if (rejected.count > 0) return rejected.messages[0]?.replace(/^span \d+ \(.*?\): /, '') ?? 'cannot be read';
    return mapped.map((span, index) => fieldsOf(span, events[index] as Told));
  } catch (error) {
    if (!(error instanceof DomainError) || error.kind !== 'too_large') throw error;
    return error.message;
  }
}

type MappedSpan = ReturnType<typeof toSpans>['spans'][number];

function fieldsOf(span: MappedSpan, { usage, input, output }: Told): SaidFields {
  const { kind, status, attributes, tags, trace_tags, session_tags, session_id, session_name, cost } = span;
  return {
    ...{ tags, trace_tags, session_tags, session_id, session_name, cost },
    error_message: span.error_message,
    ...(kind !== DEFAULT_KIND && { kind }),
    ...(status !== 'unset' && { status }),
    input_data: textOf(input),
    output_data: textOf(output),
    attributes: usage ? { ...NO_TOKENS, ...attributes } : attributes,
  };
}

/** Counts of tokens are said all at once: those that a later event leaves out do not count anymore. */
const NO_TOKENS = Object.fromEntries(
  CONTRACT_ATTRIBUTES.filter((name) => name.endsWith('Tokens')).map((name) => [name, null]),
);

function textOf(value: unknown): string | null {
  if (value === null || value === undefined) return null;
  return typeof value === 'string' ? normalizeText(value) : toJsonText(value);
}
