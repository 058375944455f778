import { toJsonText } from '../../engine/json-text.js';
import { normalizeText } from '../../engine/schema/normalize.js';
import type { Micros } from '../../engine/timestamp.js';
import type { SaidFields } from '../../engine/traces/model/partial/partial-span.js';
import { DEFAULT_KIND } from '../../otlp/genai/kind.js';
import { CONTRACT_ATTRIBUTES } from '../../otlp/genai/mapping.js';
import {
  newAttributes,
  newResource,
  newScope,
  newSpan,
  type Attributes,
  type AttributeValue,
} from '../../otlp/model.js';
import { toSpans, type MappingLimits } from '../../otlp/span.js';
import type { Observation, Trace } from './event-schema.js';

/*
 * What events say of observations and traces, by the attributes in which today's clients of Langfuse say the same over
 * OpenTelemetry: these have one meaning (src/otlp/genai).
 */

/** What an event says, before it is known of which span. */
export interface Told {
  readonly attributes: Attributes;
  /** Whether it says which tokens were used: then it says so of all kinds of them. */
  readonly usage: boolean;
  readonly input: unknown;
  readonly output: unknown;
}

/** @param type of the observation, where the event says it */
export function observed(body: Observation, type: string | null): Told {
  const said = new Said('langfuse.observation');
  said.put('type', type);
  said.put('model.name', body.model);
  said.put('model.parameters', body.modelParameters);
  said.put('completion_start_time', body.completionStartTime);
  said.put('level', body.level);
  said.put('status_message', body.statusMessage);
  said.put('prompt.name', body.promptName);
  said.put('prompt.version', body.promptVersion);
  const usage = usageOf(body);
  said.put('usage_details', usage);
  said.put('cost_details', body.costDetails ?? costOf(body.usage));
  said.metadata(body.metadata);
  said.context(body);
  return { attributes: said.attributes, usage: usage !== null, input: body.input, output: body.output };
}

export function traced(body: Trace): Told {
  const said = new Said('langfuse.trace');
  said.put('public', body.public);
  said.put('external_id', body.externalId);
  said.put('tags', body.tags);
  said.metadata(body.metadata);
  said.context(body);
  put(said.attributes, 'langfuse.release', body.release);
  put(said.attributes, 'langfuse.session.id', body.sessionId);
  put(said.attributes, 'langfuse.user.id', body.userId);
  return { attributes: said.attributes, usage: false, input: body.input, output: body.output };
}

class Said {
  readonly attributes = newAttributes();
  readonly #prefix: string;

  constructor(prefix: string) {
    this.#prefix = prefix;
  }

  put(name: string, value: unknown): void {
    put(this.attributes, `${this.#prefix}.${name}`, value);
  }

  /** Each name of metadata is said by itself: what a later event says of others leaves it. */
  metadata(value: unknown): void {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) this.put('metadata', value);
    else for (const [name, each] of Object.entries(value)) this.put(`metadata.${name}`, each);
  }

  context({ version, environment }: Pick<Trace, 'version' | 'environment'>): void {
    put(this.attributes, 'langfuse.version', version);
    put(this.attributes, 'langfuse.environment', environment);
  }
}

function put(attributes: Attributes, name: string, value: unknown): void {
  if (value !== null && value !== undefined) attributes[name] = value as AttributeValue;
}

const SHORT_USAGE = {
  input: ['input', 'promptTokens', 'prompt_tokens'],
  output: ['output', 'completionTokens', 'completion_tokens'],
  total: ['total', 'totalTokens', 'total_tokens'],
} as const;

/** The tokens of a call: by kind, or in the older form, which may count something else. */
function usageOf({ usage, usageDetails }: Observation): Record<string, unknown> | null {
  if (usageDetails != null && Object.keys(usageDetails).length > 0) return usageDetails;
  if (usage == null) return null;
  const { unit } = usage;
  if (typeof unit === 'string' && unit.toUpperCase() !== 'TOKENS') return null;
  const entries = Object.entries(SHORT_USAGE).map(([name, names]) => [name, firstOf(usage, names)] as const);
  const there = entries.filter(([, value]) => value !== null);
  return there.length === 0 ? null : Object.fromEntries(there);
}

function costOf(usage: Observation['usage']): Record<string, unknown> | null {
  if (usage == null) return null;
  const [input, output, total] = (['inputCost', 'outputCost', 'totalCost'] as const).map((name) =>
    firstOf(usage, [name]),
  );
  if (total != null) return { total };
  return input == null && output == null
    ? null
    : { ...(input != null && { input }), ...(output != null && { output }) };
}

function firstOf(usage: Readonly<Record<string, unknown>>, names: readonly string[]): number | null {
  const found = names.map((name) => usage[name]).find((value) => typeof value === 'number');
  return typeof found === 'number' ? found : null;
}

/** Any time: those of a span come from elsewhere. */
const SOME_TIME: Micros = 1;
const SOME_TRACE = '1'.padStart(32, '0');

/** The fields of spans that some events say, in their order. */
export function fieldsOf(events: readonly Told[], limits: MappingLimits): SaidFields[] {
  const [resource, scope] = [newResource(), newScope()];
  const spans = events.map(({ attributes }, index) => ({
    ...newSpan(resource, scope),
    ...{ traceId: SOME_TRACE, spanId: (index + 1).toString(16).padStart(16, '0') },
    ...{ start: SOME_TIME, end: SOME_TIME, attributes },
  }));
  const mapped = toSpans({ spans }, limits).spans;
  // None can be refused: times and ids are sound, and what bounds names was checked.
  if (mapped.length < events.length) throw new Error('An event was not mapped');
  return mapped.map((span, index): SaidFields => {
    const { usage, input, output } = events[index] as Told;
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
  });
}

/** Counts of tokens are said all at once: those that a later event leaves out do not count any more. */
const NO_TOKENS = Object.fromEntries(
  CONTRACT_ATTRIBUTES.filter((name) => name.endsWith('Tokens')).map((name) => [name, null]),
);

function textOf(value: unknown): string | null {
  if (value === null || value === undefined) return null;
  return typeof value === 'string' ? normalizeText(value) : toJsonText(value);
}
