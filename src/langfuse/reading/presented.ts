import { isJsonObject } from '../../engine/json-object.js';
import type { StoredScore } from '../../engine/traces/model/score/scores.js';
import { valueOf } from '../../facade/json.js';
import { traceSpanId } from '../ids.js';
import type { Row } from '../../facade/list-rows.js';

/* Spans, traces and sessions as clients of Langfuse read them. */

const CONTEXT = new Set(['user', 'environment', 'release', 'version']);

/** What the tags of a trace say. */
function contextOf(tags: Readonly<Record<string, string>>) {
  const others = Object.entries(tags).filter(([tag]) => !CONTEXT.has(tag));
  return {
    userId: tags['user'] ?? null,
    environment: tags['environment'] ?? 'default',
    release: tags['release'] ?? null,
    version: tags['version'] ?? null,
    tags: others.flatMap(([tag, value]) => (value === 'true' ? [tag] : [])),
    metadata: Object.fromEntries(others.filter(([, value]) => value !== 'true')),
  };
}

export interface TraceContext {
  readonly projectId: string;
  /** What sessions are called, by their ids. */
  readonly sessions: ReadonlyMap<string, { readonly name: string | null }>;
}

/** What a trace says without its observations and scores. */
export function toTrace(trace: Row, { projectId, sessions }: TraceContext) {
  const { id, name, started_at, root_span_input, root_span_output, session_id, tags, duration_ms, cost } = trace;
  return {
    ...{ id: id, projectId, timestamp: started_at, name: name },
    input: valueOf(root_span_input),
    output: valueOf(root_span_output),
    sessionId: session_id === null ? null : (sessions.get(session_id)?.name ?? session_id),
    ...contextOf(tags ?? {}),
    public: false,
    bookmarked: false,
    htmlPath: `/project/${projectId}/traces/${id}`,
    latency: (duration_ms ?? 0) / 1000,
    totalCost: cost ?? 0,
    createdAt: trace.created_at,
    updatedAt: trace.created_at,
  };
}

const TYPES: Readonly<Record<string, string>> = {
  llm: 'GENERATION',
  ...Object.fromEntries(
    ['embedding', 'chain', 'retriever', 'tool', 'agent', 'guardrail', 'evaluator'].map((kind) => [
      kind,
      kind.toUpperCase(),
    ]),
  ),
};
/** The kind of spans by the type of observations. */
export const KINDS: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(TYPES).map(([kind, type]) => [type, kind]),
);

const LEVEL = 'langfuse.observation.level';
const PARAMETERS = 'langfuse.observation.model.parameters';
const COMPLETION_START = 'langfuse.observation.completion_start_time';

export function toObservation(span: Row, projectId: string) {
  const { id, trace_id, parent_span_id, attributes, cost, input_tokens, output_tokens, started_at, duration_ms } = span;
  const { userId: _user, tags: _tags, release: _release, metadata, ...context } = contextOf(span.tags ?? {});
  const usage = numbers({ input: input_tokens, output: output_tokens });
  const level = attributes?.[LEVEL];
  return {
    ...{ id: id, traceId: trace_id, projectId },
    type: typeOf(span),
    name: span.name,
    startTime: started_at,
    endTime: span.ended_at,
    completionStartTime: timeIn(attributes?.[COMPLETION_START]),
    parentObservationId: parent_span_id === traceSpanId(trace_id) ? null : parent_span_id,
    ...{ model: span.model, providedModelName: span.model },
    modelParameters: asObject(attributes?.[PARAMETERS]),
    input: valueOf(span.input_data),
    output: valueOf(span.output_data),
    metadata: { ...metadata, ...metadataIn(attributes ?? {}) },
    ...context,
    level: span.has_error ? 'ERROR' : typeof level === 'string' ? level : 'DEFAULT',
    statusMessage: span.error_message,
    usage: {
      ...{ input: input_tokens ?? 0, output: output_tokens ?? 0, total: (input_tokens ?? 0) + (output_tokens ?? 0) },
      ...{ unit: 'TOKENS', inputCost: null, outputCost: null, totalCost: cost },
    },
    usageDetails: {
      ...usage,
      ...(Object.keys(usage).length > 0 && { total: (input_tokens ?? 0) + (output_tokens ?? 0) }),
    },
    costDetails: numbers({ total: cost }),
    totalCost: cost,
    calculatedTotalCost: cost,
    ...{ promptId: span.prompt_version_id, promptName: span.prompt_slug },
    promptVersion: span.prompt_version,
    latency: duration_ms === null ? null : duration_ms / 1000,
    createdAt: span.created_at,
    updatedAt: span.created_at,
  };
}

/** Whether a span only stands for its trace. */
export const standsForTrace = ({ id, trace_id }: Row): boolean => id === traceSpanId(trace_id);

function typeOf({ kind, attributes }: Row): string {
  const said = attributes?.['langfuse.observation.type'];
  if (typeof said === 'string' && said !== '') return said.toUpperCase();
  return TYPES[kind] ?? 'SPAN';
}

function numbers(values: Readonly<Record<string, number | null>>): Record<string, number> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== null)) as Record<string, number>;
}

function timeIn(said: unknown): string | null {
  const text = typeof said === 'string' ? said.replaceAll('"', '') : '';
  return Number.isNaN(Date.parse(text)) ? null : new Date(text).toISOString();
}

function asObject(said: unknown): Record<string, unknown> {
  const value = typeof said === 'string' ? valueOf(said) : said;
  return isJsonObject(value) ? { ...value } : {};
}

const METADATA = 'langfuse.observation.metadata.';

function metadataIn(attributes: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const own = Object.entries(attributes).filter(([name]) => name.startsWith(METADATA));
  return Object.fromEntries(own.map(([name, value]) => [name.slice(METADATA.length), value]));
}

/** The subject of a score, as the newest call answers it. */
export function subjectOf({ entity_type, entity_id }: Pick<StoredScore, 'entity_type' | 'entity_id'>) {
  if (entity_type === 'span') return { kind: 'observation' as const, id: entity_id, traceId: null };
  return { kind: entity_type, id: entity_id };
}
