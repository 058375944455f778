import { Type, type Static } from '@sinclair/typebox';
import { MESSAGE_ROLES } from '../../engine/models/model-client.js';
import { Slug, VersionNumber } from '../prompts/schema.js';
import { optional } from '../../engine/schema/inputs.js';
import { count, line, number, oneOf, orNull, uuid } from '../../engine/schema/parts.js';

/** Larger requests are refused: no model takes more, and several may be waiting at once. */
export const MAX_BODY_BYTES = 2 * 1024 * 1024;
const MAX_MESSAGES = 500;

const Message = Type.Object(
  {
    role: oneOf(MESSAGE_ROLES, 'Role of the message.'),
    content: Type.String({
      description: 'Text of the message. It is sent as it is, so fill placeholders first.',
    }),
  },
  { description: 'A message of the conversation.' },
);

const Source = Type.Object(
  {
    prompt_slug: optional(Type.String({ ...Slug, description: 'Prompt whose version was changed; with `version`.' })),
    version: optional(Type.Integer({ ...VersionNumber, description: 'Number of the version; with `prompt_slug`.' })),
    span_id: optional(
      uuid(
        'Recorded span whose input was changed. The call is deleted with this span, because it contains texts of it.',
      ),
    ),
  },
  { description: 'Source of the messages, to store with the call.' },
);

export const PlaygroundInput = Type.Object(
  {
    messages: Type.Array(Message, {
      minItems: 1,
      maxItems: MAX_MESSAGES,
      description: 'The conversation for the model to continue.',
    }),
    model: optional(
      line(
        512,
        'Model, as the model endpoint names it. Absent: the one bound to the version in `source`, else `JUDGE_LLM_MODEL`.',
      ),
    ),
    temperature: optional(
      Type.Number({ minimum: 0, maximum: 2, description: "Temperature; absent: the model's own default." }),
    ),
    source: optional(Source),
  },
  { $id: 'PlaygroundInput', description: 'A call to a model.' },
);
export type PlaygroundInput = Static<typeof PlaygroundInput>;

const model = Type.String({ description: 'Model to call.' });

export const PlaygroundEstimate = Type.Object(
  {
    model,
    input_tokens: count('Tokens of the messages, estimated at four characters each.'),
    input_cost: orNull(number('Their cost in US dollars; null if the price is unknown.')),
    cost_per_1000_output_tokens: orNull(
      number('Cost of a thousand tokens of the answer in US dollars; null if the price is unknown.'),
    ),
    cost_unknown_reason: orNull(Type.String({ description: 'Why the cost is unknown; null if it is known.' })),
  },
  { $id: 'PlaygroundEstimate', description: 'Estimate for a call.' },
);
export type PlaygroundEstimate = Static<typeof PlaygroundEstimate>;

const Failure = Type.Object(
  {
    code: Type.String({
      description:
        'An HTTP status of the model endpoint, such as `429`; `timeout`, `connection`, or `answer` (unreadable).',
    }),
    message: Type.String({ description: "General description of the failure; the server's log has the details." }),
    retryable: Type.Boolean({ description: 'Whether the same call may succeed later.' }),
  },
  { description: 'Why the model did not respond.' },
);

export const PlaygroundRun = Type.Object(
  {
    span_id: uuid('Span as which the call is stored.'),
    trace_id: uuid('Trace of that span, which contains only this call.'),
    model: Type.String({
      description: 'Model that responded, by its own name; without a response, the requested one.',
    }),
    output: orNull(Type.String({ description: 'Its answer; null if there is none.' })),
    refusal: orNull(Type.String({ description: 'Refusal of the model, instead of an answer.' })),
    failure: orNull(Failure),
    finish_reason: orNull(
      Type.String({ description: 'Finish reason, such as `stop`; `length`: truncated. Null: unknown.' }),
    ),
    usage: orNull(
      Type.Object(
        {
          input_tokens: count('Tokens of the messages.'),
          output_tokens: count('Tokens of the answer.'),
          cached_tokens: count('Input tokens that were read from a cache.'),
        },
        { description: 'Tokens, as the model endpoint counted them; null if it did not say.' },
      ),
    ),
    cost: orNull(number('Cost in US dollars; null if unknown.')),
    duration_ms: number('Duration of the call, in milliseconds.'),
  },
  { $id: 'PlaygroundRun', description: 'Response of a model.' },
);
export type PlaygroundRun = Static<typeof PlaygroundRun>;
