import { Type, type Static, type TNull, type TOptional, type TUnion, type TUnsafe } from '@sinclair/typebox';
import { plainFields, sessionFields, spanFields, type PlainField, type SpanRead } from '../list/fields.js';
import {
  attributes,
  cost,
  duration,
  label,
  name,
  optional,
  payload,
  status,
  tags,
  time,
} from '../../../schema/inputs.js';
import { uuid } from '../../../schema/parts.js';
import { spanKind } from '../../../schema/kind.js';
import { SpanChoices, SpanSignals } from '../score/schema.js';

/** The session of a span, in the span itself. */
export const SpanSession = Type.Object(
  {
    id: optional(uuid('Session id.')),
    name: optional(label(sessionFields.name.description)),
    tags: optional(tags('Tags for the session; those in `session_tags` override them.')),
  },
  { description: 'Alternative to session_id.' },
);

const plainSchemas = {
  text: (description: string) => Type.String({ description }),
  integer: (description: string) => Type.Integer({ minimum: 0, maximum: 2 ** 53 - 1, description }),
};
const plainInputs = Object.fromEntries(
  Object.entries(plainFields).map(([field, { type, description }]) => [
    field,
    optional(plainSchemas[type](description)),
  ]),
) as unknown as { [K in PlainField]: TOptional<TUnion<[TUnsafe<NonNullable<SpanRead[K]>>, TNull]>> };

export const SpanInput = Type.Object(
  {
    id: optional(uuid('Span id; generated if absent. Sending an id again replaces the span.')),
    trace_id: uuid(spanFields.trace_id.description),
    parent_span_id: optional(uuid(spanFields.parent_span_id.description)),
    session_id: optional(uuid('Session to associate with.')),
    session_name: optional(label(spanFields.session_name.description)),
    session: optional(SpanSession),
    name: name(spanFields.name.description),
    kind: optional(spanKind(`${spanFields.kind.description} Default: generic.`)),
    status: optional(status(spanFields.status.description)),
    started_at: time(spanFields.started_at.description),
    ended_at: optional(time(spanFields.ended_at.description)),
    duration_ms: optional(duration('Duration in milliseconds; if absent, end minus start.')),
    cost: optional(
      cost(
        'Cost in US dollars. If absent, it is calculated for LLM spans from the attributes provider, model, ' +
          'inputTokens and outputTokens, and from cacheReadTokens and cacheWriteTokens if given. Cached tokens are part ' +
          'of the input tokens. If they exceed these, they were counted separately and are priced in addition.',
      ),
    ),
    input_data: optional(payload(spanFields.input_data.description)),
    output_data: optional(payload(spanFields.output_data.description)),
    attributes: optional(attributes(spanFields.attributes.description)),
    tags: optional(tags(spanFields.tags.description)),
    trace_tags: optional(tags(spanFields.trace_tags.description)),
    session_tags: optional(tags(spanFields.session_tags.description)),
    ...plainInputs,
    signals: optional(SpanSignals),
    ab_choices: optional(SpanChoices),
  },
  { $id: 'SpanInput', description: 'A span to send.' },
);
export type SpanInput = Static<typeof SpanInput>;
