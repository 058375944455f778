import { Type, type Static, type TUnsafe } from '@sinclair/typebox';
import { attributes, label, MAX_TAGS, optional, tags } from '../../../engine/schema/inputs.js';
import { count, orNull, time, uuid } from '../../../engine/schema/parts.js';
import { callFields, spanFields, type SpanCall } from '../../../engine/traces/model/list/fields.js';
import { ScoreName } from '../../../engine/traces/model/score/schema.js';
import { SpanInput } from '../../../engine/traces/model/span/schema.js';
import { TraceInput } from '../../../engine/traces/model/trace/schema.js';
import { Slug } from '../../prompts/schema.js';
import { ScoreDefinitionInput, ScoreDefinitionRead, ScoreInput } from '../../scores/schema.js';
import { record, text } from './record.js';

/* Spans, traces and sessions, and what they show and are scored by. */

/** Schemas of call fields, by type. */
const ofCall = {
  text: (description: string) => Type.String({ description }),
  integer: (description: string) => Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER, description }),
  id: uuid,
};
const call = Object.fromEntries(
  Object.entries(callFields).map(([name, { type, description }]) => [name, orNull(ofCall[type](description))]),
) as unknown as { [K in keyof SpanCall]: TUnsafe<SpanCall[K]> };

const { session: _session, id: _id, signals: _signals, ab_choices: _choices, ...sent } = SpanInput.properties;
export const spans = record('Span', 'A span, with the call attributes that were found in its attributes.', {
  ...sent,
  // Clients send them in two places.
  session_tags: optional(tags(spanFields.session_tags.description, { count: 2 * MAX_TAGS })),
  id: uuid('Span id; with the trace id it identifies the span.'),
  ...call,
  prompt_slug: orNull(Type.String({ ...Slug, description: callFields.prompt_slug.description })),
  cost_calculated: Type.Boolean({ description: 'Whether the cost was calculated, and follows prices.' }),
  created_at: time('When the stored version of the span was received.'),
  written_at: time('When a client last wrote the span: of two spans with its ids, the later one stays.'),
});

export const traces = record('Trace', 'Posted data of a trace; everything else about it comes from its spans.', {
  ...TraceInput.properties,
  id: uuid('Trace id.'),
});

export const sessions = record('Session', 'Posted data of a session; everything else about it comes from its traces.', {
  id: uuid('Session id.'),
  name: optional(label('Name of the session.')),
  attributes: optional(attributes('Arbitrary key-value attributes.')),
  tags: optional(tags('Tags of the session; they override tags from its spans.')),
});

export const scores = record('Score', 'A score of a span, trace or session.', {
  ...ScoreInput.properties,
  created_at: time('When its value was received: of two scores with the same id, the later one stays.'),
});

export const attachments = record('Attachment', 'An image, and one span that shows it.', {
  sha256: Type.String({ pattern: '^[0-9a-f]{64}$', 'x-must': 'be 64 hexadecimal digits', description: 'Its SHA-256.' }),
  media_type: text(100, 'Its media type.'),
  bytes: count('Its size.'),
  trace_id: uuid('Trace of the span.'),
  span_id: uuid('The span.'),
  base64: orNull(
    Type.String({
      description: 'The image; null: it came with an earlier record of the same hash, or was missing at the export.',
    }),
  ),
});

export const score_definitions = record('ScoreDefinition', 'What values the scores of a name have.', {
  ...ScoreDefinitionInput.properties,
  name: ScoreName,
  created_at: ScoreDefinitionRead.properties.created_at,
  updated_at: ScoreDefinitionRead.properties.updated_at,
});

export type SpanRecord = Static<typeof spans>;
export type TraceRecord = Static<typeof traces>;
export type SessionRecord = Static<typeof sessions>;
export type ScoreRecord = Static<typeof scores>;
export type AttachmentRecord = Static<typeof attachments>;
