import type { ScoreValue } from '../score/score.js';

/** Type of a field of a listed object; decides its JSON Schema, its bounds and how storage renders it. */
export type FieldType =
  | 'id' // lower-case UUID
  | 'text'
  | 'kind' // as `KIND` says
  | 'status' // unset | ok | error
  | 'time' // ISO 8601, UTC, microseconds
  | 'number'
  | 'money' // US dollars, kept to 1e-12
  | 'integer'
  | 'boolean'
  | 'tags' // object of strings
  | 'json'; // any JSON object

export interface Field {
  readonly type: FieldType;
  readonly nullable: boolean;
  /** Whether null is stored as an empty text. */
  readonly emptyIsNull?: true;
  readonly description: string;
}

type FieldOptions = { readonly nullable: true; readonly emptyIsNull?: true };

function field<T extends FieldType>(type: T, description: string): { type: T; nullable: false; description: string };
function field<T extends FieldType>(
  type: T,
  description: string,
  options: FieldOptions,
): { type: T; description: string } & FieldOptions;
function field(type: FieldType, description: string, options?: FieldOptions): Field {
  return { type, nullable: false, ...options, description };
}

const orNull = { nullable: true } as const;
const orEmpty = { nullable: true, emptyIsNull: true } as const;

/** Fields that clients may send with a span and that are kept as sent: requests, rows, answers and exports follow from here. */
export const plainFields = {
  error_code: field('text', 'Error code or exception class.', orNull),
  error_message: field('text', 'Error description.', orNull),
  error_stack: field('text', 'Stack trace.', orNull),
  code_filepath: field('text', 'Source file path.', orNull),
  code_lineno: field('integer', 'Source line number.', orNull),
} as const satisfies Record<string, Field & { readonly type: 'text' | 'integer'; readonly nullable: true }>;

/** Fields of a span that its attributes say: of the call of a model that it is, and of its prompt. */
export const callFields = {
  provider: field(
    'text',
    'Provider of the model that the span calls, as stated, else as known for the model.',
    orEmpty,
  ),
  model: field('text', 'Model that the span calls, without its provider as a prefix.', orEmpty),
  input_tokens: field('integer', 'All input tokens of its call, including cached ones.', orNull),
  output_tokens: field('integer', 'Output tokens of its call.', orNull),
  cache_read_tokens: field('integer', 'Input tokens read from a cache.', orNull),
  cache_write_tokens: field('integer', 'Input tokens written to a cache.', orNull),
  prompt_slug: field('text', 'Slug of the prompt that the span names.', orEmpty),
  prompt_version: field('integer', 'Version number of this prompt that the span names.', orNull),
  prompt_version_id: field('id', 'Id of this version, if the span names it.', orNull),
} as const satisfies Record<string, Field>;

/**
 * The fields of the three listed objects, in the order in which they are answered. Everything that speaks of a field
 * (response schemas, sorts, filters, `fields=`, SQL columns, OpenAPI) is derived from here.
 */
export const spanFields = {
  id: field('id', 'Span id; with the trace id it identifies the span.'),
  trace_id: field('id', 'Trace to which the span belongs.'),
  parent_span_id: field('id', 'Parent span; null for a root span.', orNull),
  session_id: field('id', 'Session to which the span belongs.', orNull),
  session_name: field('text', 'Name that the span gives its session.', orEmpty),
  project_id: field('text', 'Project to which the span belongs.'),
  name: field('text', 'Descriptive name.'),
  kind: field('kind', 'Kind of span: generic, llm, tts, http, database, vector_store or another identifier.'),
  status: field('status', 'Outcome of the span.', orEmpty),
  started_at: field('time', 'Start time.'),
  ended_at: field('time', 'End time.', orNull),
  duration_ms: field('number', 'Duration in milliseconds.', orNull),
  cost: field('money', 'Cost in US dollars; null if unknown.', orNull),
  input_data: field('text', 'Input; a JSON string for message lists.', orNull),
  output_data: field('text', 'Output text.', orNull),
  attributes: field('json', 'Arbitrary key-value attributes.'),
  tags: field('tags', 'Key-value tags used for filtering.'),
  trace_tags: field('tags', 'Tags that the span applies to its trace.'),
  session_tags: field('tags', 'Tags that the span applies to its session.'),
  ...plainFields,
  has_error: field('boolean', 'Whether the status is error, or an error code or message is set.'),
  created_at: field('time', 'When the stored version of the span was received.'),
  ...callFields,
} as const satisfies Record<string, Field>;

export const traceFields = {
  id: field('id', 'Trace id.'),
  session_id: field('id', 'Session to which the trace belongs.', orNull),
  project_id: field('text', 'Project to which the trace belongs.'),
  name: field('text', 'Posted name, else that of the root span, else that of the earliest span.'),
  status: field('status', 'Posted status, else error if any span has an error, else ok if any span is ok, else unset.'),
  started_at: field('time', 'Posted start, else the earliest start of its spans.'),
  ended_at: field('time', 'Posted end, else the latest end of its spans.', orNull),
  duration_ms: field('number', 'Posted duration, else end minus start, in milliseconds.', orNull),
  cost: field('money', 'Posted cost, else the sum of the costs of its spans, in US dollars.', orNull),
  span_count: field('integer', 'Number of spans.'),
  error_count: field('integer', 'Number of spans with errors.'),
  root_span_input: field('text', 'Input of the root span.', orNull),
  root_span_output: field('text', 'Output of the root span.', orNull),
  root_span_error: field('text', 'Error message of the root span, else its error code.', orNull),
  tags: field('tags', 'Tags from spans (the latest write wins per key) and posted tags, which override them.'),
  attributes: field('json', 'Posted attributes.'),
  has_error: field('boolean', 'Whether the status is error.'),
  created_at: field('time', 'When the trace was first written.'),
  input_tokens: field('integer', 'Sum of the input tokens of its spans; null if none is known.', orNull),
  output_tokens: field('integer', 'Sum of the output tokens of its spans; null if none is known.', orNull),
} as const satisfies Record<string, Field>;

export const sessionFields = {
  id: field('id', 'Session id.'),
  project_id: field('text', 'Project to which the session belongs.'),
  name: field('text', 'Posted name, else the latest name given by a span.', orEmpty),
  trace_count: field('integer', 'Number of traces.'),
  error_count: field('integer', 'Number of spans with errors.'),
  cost: field('money', 'Sum of the costs of its traces, in US dollars.', orNull),
  duration: field('number', 'Sum of the durations of its traces, in milliseconds.', orNull),
  started_at: field('time', 'Earliest start of its traces.', orNull),
  ended_at: field('time', 'Latest end of its traces.', orNull),
  tags: field('tags', 'Tags from spans (the latest write wins per key) and posted tags, which override them.'),
  attributes: field('json', 'Posted attributes.'),
  has_error: field('boolean', 'Whether any of its spans has an error.'),
  created_at: field('time', 'When the session was first written.'),
  input_tokens: field('integer', 'Sum of the input tokens of its traces; null if none is known.', orNull),
  output_tokens: field('integer', 'Sum of the output tokens of its traces; null if none is known.', orNull),
} as const satisfies Record<string, Field>;

/** Fields of the three lists that are answered only where they are named: each costs a further look-up. */
export const namedFields = {
  scores: field(
    'json',
    'Newest score of each name, of the object itself or of anything in it; only if `fields` names it. At most 100 names, and of ' +
      'texts 1,000 characters, or `text_limit`.',
  ),
} as const satisfies Record<string, Field>;

interface FieldValues {
  id: string;
  text: string;
  kind: string;
  status: 'unset' | 'ok' | 'error';
  time: string;
  number: number;
  money: number;
  integer: number;
  boolean: boolean;
  tags: Readonly<Record<string, string>>;
  json: Readonly<Record<string, unknown>>;
}

/** The answered object that a set of fields describes. */
export type ReadOf<F extends Record<string, Field>> = {
  readonly [K in keyof F]: F[K]['nullable'] extends true ? FieldValues[F[K]['type']] | null : FieldValues[F[K]['type']];
};

export type PlainField = keyof typeof plainFields;
/** What a span says of its call and of its prompt. */
export type SpanCall = ReadOf<typeof callFields>;
type NamedRead = Readonly<Partial<Record<keyof typeof namedFields, Readonly<Record<string, ScoreValue>>>>>;
export type SpanRead = ReadOf<typeof spanFields> & NamedRead;
export type TraceRead = ReadOf<typeof traceFields> & NamedRead;
export type SessionRead = ReadOf<typeof sessionFields> & NamedRead;
