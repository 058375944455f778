import { Type, type Static } from '@sinclair/typebox';
import { cost, duration, optional } from '../../engine/schema/inputs.js';
import { orNull, time, uuid } from '../../engine/schema/parts.js';
import { ModelId } from '../prompts/schema.js';

const tokens = (description: string) => Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER, description });

const said = {
  prompt_version_id: uuid('Version of the prompt.'),
  model_id: ModelId,
  messages: Type.Array(Type.Record(Type.String(), Type.Unknown()), {
    description: 'The messages, as OpenAI has them: the input of the span, unless there are none.',
  }),
  input_text: Type.String({ description: 'The input as text: the input of the span if there are no messages.' }),
  output_text: Type.String({ description: 'The output.' }),
  metadata: Type.Record(Type.String(), Type.Unknown(), { description: 'Any JSON to store with the completion.' }),
  duration_ms: duration('Duration in milliseconds.'),
  prompt_tokens: tokens('Input tokens.'),
  completion_tokens: tokens('Output tokens.'),
  total_tokens: tokens('All tokens.'),
  cost: cost('Cost in US dollars. If absent, it is calculated from model and tokens.'),
  error_message: Type.String({ description: 'What went wrong.' }),
  span_id: uuid('The span that made the call. If it is stored, it becomes the completion.'),
};

export const CompletionInput = Type.Object(
  {
    prompt_id: optional(uuid('Id of the prompt; it must be that of the slug.')),
    prompt_version_id: optional(said.prompt_version_id),
    model_id: optional(said.model_id),
    messages: optional(said.messages),
    input_text: optional(said.input_text),
    output_text: optional(said.output_text),
    metadata: optional(said.metadata),
    duration_ms: optional(said.duration_ms),
    prompt_tokens: optional(said.prompt_tokens),
    completion_tokens: optional(said.completion_tokens),
    total_tokens: optional(said.total_tokens),
    cost: optional(said.cost),
    has_error: optional(Type.Boolean({ description: 'Whether the call failed.' })),
    error_message: optional(said.error_message),
    span_id: optional(said.span_id),
  },
  { $id: 'CompletionInput', description: 'A completion of a prompt, as the Python SDK logs it.' },
);
export type CompletionInput = Static<typeof CompletionInput>;

export const LoggedCompletionRead = Type.Object(
  {
    id: uuid('Id of the completion: that of its span.'),
    trace_id: uuid('Trace of the span.'),
    project_id: uuid('The project.'),
    prompt_id: uuid('Id of the prompt.'),
    prompt_slug: Type.String({ description: 'Slug of the prompt.' }),
    prompt_version_id: orNull(said.prompt_version_id),
    model_id: orNull(said.model_id),
    messages: said.messages,
    input_text: orNull(said.input_text),
    output_text: orNull(said.output_text),
    metadata: said.metadata,
    duration_ms: orNull(said.duration_ms),
    prompt_tokens: orNull(said.prompt_tokens),
    completion_tokens: orNull(said.completion_tokens),
    total_tokens: orNull(said.total_tokens),
    cost: orNull(Type.Number({ description: 'Cost of the span in US dollars, sent or calculated.' })),
    has_error: Type.Boolean({ description: 'Whether the call failed.' }),
    error_message: orNull(said.error_message),
    span_id: orNull(uuid('The span that made the call, as it was sent.')),
    created_at: time('When the completion was stored.'),
  },
  { $id: 'LoggedCompletion', description: 'A completion as it was logged.' },
);
export type LoggedCompletionRead = Static<typeof LoggedCompletionRead>;
