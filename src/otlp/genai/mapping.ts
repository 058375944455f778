import { USAGE_ATTRIBUTES } from '../../engine/traces/model/span/usage.js';
import { CALL_FIELDS } from './call-fields.js';
import { CONTEXT_FIELDS } from './context-fields.js';
import type { FieldRule } from './source.js';

/**
 * Meaning of attributes in the conventions that exporters use. Each list is in this order: this service's
 * own name, OpenTelemetry today, OpenTelemetry before, OpenInference, OpenLLMetry, the Vercel AI SDK, Langfuse.
 * Sources are data: a new convention is a new line here, and a test with the payload of a real exporter.
 */
export const MAPPING = { ...CALL_FIELDS, ...CONTEXT_FIELDS } as const satisfies Record<string, FieldRule>;

export type FieldName = keyof typeof MAPPING;

/** Token counts and names that are written into a span's attributes under the names of the interface. */
export const CONTRACT_ATTRIBUTES = [...USAGE_ATTRIBUTES, 'reasoningTokens'] as const satisfies readonly FieldName[];
