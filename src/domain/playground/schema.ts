import { Type, type Static } from '@sinclair/typebox';
import { MESSAGE_ROLES } from '../judge/model-client.js';
import { Slug, VersionNumber } from '../prompt/schema.js';
import { optional } from '../schema/inputs.js';
import { count, line, number, oneOf, orNull, uuid } from '../schema/parts.js';

/** Larger requests are refused: no model takes more, and several may be waiting at once. */
export const MAX_BODY_BYTES = 2 * 1024 * 1024;
const MAX_MESSAGES = 500;

const Message = Type.Object(
  {
    role: oneOf(MESSAGE_ROLES, 'Who says it.'),
    content: Type.String({
      description: 'Text of the message; it is sent as it is, so placeholders have to be filled.',
    }),
  },
  { description: 'A message of the conversation.' },
);

const Source = Type.Object(
  {
    prompt_slug: optional(Type.String({ ...Slug, description: 'Prompt whose version was changed; with `version`.' })),
    version: optional(Type.Integer({ ...VersionNumber, description: 'Number of the version; with `prompt_slug`.' })),
    span_id: optional(
      uuid('Recorded span whose input was changed. The call is deleted with this span, as it holds texts of it.'),
    ),
  },
  { description: 'Where the messages are from, to be kept with the call.' },
);

export const PlaygroundInput = Type.Object(
  {
    messages: Type.Array(Message, {
      minItems: 1,
      maxItems: MAX_MESSAGES,
      description: 'The conversation that the model is to continue.',
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
  { $id: 'PlaygroundInput', description: 'What a model is to be asked.' },
);
export type PlaygroundInput = Static<typeof PlaygroundInput>;

const model = Type.String({ description: 'Model that is asked.' });

export const PlaygroundEstimate = Type.Object(
  {
    model,
    input_tokens: count('Tokens of the messages, estimated at four characters each.'),
    input_cost: orNull(number('Cost of these in US dollars; null when the price is not known.')),
    cost_per_1000_output_tokens: orNull(
      number('Cost of a thousand tokens of the answer in US dollars; null when the price is not known.'),
    ),
    cost_unknown_reason: orNull(Type.String({ description: 'Why the cost is not known; null when it is.' })),
  },
  { $id: 'PlaygroundEstimate', description: 'What a call would come to.' },
);
export type PlaygroundEstimate = Static<typeof PlaygroundEstimate>;

const Failure = Type.Object(
  {
    code: Type.String({
      description:
        'An HTTP status of the model endpoint, such as `429`; `timeout`, `connection`, or `answer` (it cannot be read).',
    }),
    message: Type.String({ description: 'What went wrong, in general words; the log of the server has the details.' }),
    retryable: Type.Boolean({ description: 'Whether the same call may succeed later.' }),
  },
  { description: 'Why the model did not answer.' },
);

export const PlaygroundRun = Type.Object(
  {
    span_id: uuid('Span that the call is stored as.'),
    trace_id: uuid('Trace of that span, which is its own.'),
    model: Type.String({ description: 'Model that answered, as it calls itself; without an answer, the one asked.' }),
    output: orNull(Type.String({ description: 'Its answer; null when there is none.' })),
    refusal: orNull(Type.String({ description: 'Refusal of the model, in place of an answer.' })),
    failure: orNull(Failure),
    finish_reason: orNull(
      Type.String({ description: 'Why the answer ended, such as `stop`; `length`: it was cut. Null: not known.' }),
    ),
    usage: orNull(
      Type.Object(
        {
          input_tokens: count('Tokens of the messages.'),
          output_tokens: count('Tokens of the answer.'),
          cached_tokens: count('Part of the input tokens that was read from a cache.'),
        },
        { description: 'Tokens, as the model endpoint counted them; null when it did not say.' },
      ),
    ),
    cost: orNull(number('Cost in US dollars; null when it is not known.')),
    duration_ms: number('Time that the call took, in milliseconds.'),
  },
  { $id: 'PlaygroundRun', description: 'What a model answered.' },
);
export type PlaygroundRun = Static<typeof PlaygroundRun>;
