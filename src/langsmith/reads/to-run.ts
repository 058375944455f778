import { Type, type Static } from '@sinclair/typebox';
import { orNull, time, uuid } from '../../engine/schema/parts.js';
import type { SpanRead } from '../../engine/traces/model/list/fields.js';
import { asObject, valueOf } from '../../facade/json.js';
import { PROJECT_TAG, type TracingProjects } from '../projects/tracing-projects.js';

const object = (description: string) => Type.Record(Type.String(), Type.Unknown(), { description });
const tokens = (description: string) => orNull(Type.Integer({ description }));

export const RunRead = Type.Object(
  {
    id: uuid('Id of the run: that of the span.'),
    trace_id: uuid('Trace of the run.'),
    parent_run_id: orNull(uuid('Run that it is a part of.')),
    dotted_order: Type.String({ description: 'Starts and ids of the runs above it, and of itself.' }),
    session_id: uuid('Experiment, or project, of the run.'),
    name: Type.String({ description: 'Name of the run.' }),
    run_type: Type.String({ description: 'Kind of the span; `chain` if it is generic.' }),
    status: Type.String({ description: '`success`, `error` or `pending`.' }),
    start_time: time('Start of the run.'),
    end_time: orNull(time('End of the run.')),
    inputs: object('What went in; a text is its member `input`.'),
    outputs: orNull(object('What came out; a text is its member `output`.')),
    error: orNull(Type.String({ description: 'What went wrong.' })),
    extra: object('Metadata, and how the model was called.'),
    tags: Type.Array(Type.String(), { description: 'Tags as they were sent.' }),
    reference_example_id: orNull(uuid('Example that the run is a result of.')),
    first_token_time: orNull(time('When the first token came.')),
    prompt_tokens: tokens('Input tokens.'),
    completion_tokens: tokens('Output tokens.'),
    total_tokens: tokens('Both.'),
    total_cost: orNull(Type.Number({ description: 'Cost in US dollars.' })),
    feedback_stats: object('Scores by name, each with `n` and `avg`.'),
    app_path: Type.String({ description: 'Path of the run below `/langsmith`.' }),
  },
  { $id: 'LangsmithRunRead', description: 'A span, as clients of LangSmith read it.' },
);
export type RunRead = Static<typeof RunRead>;

/** A span as it is in lists, with its scores. */
export type ListedSpan = SpanRead & { readonly scores?: Readonly<Record<string, number | boolean | string>> };

export function toRun(span: ListedSpan, projectId: string, tracing: TracingProjects): RunRead {
  const { id, trace_id, parent_span_id, name, kind, started_at, ended_at, attributes, tags } = span;
  const experiment = attributes['spanhouse.experiment.id'];
  const session = typeof experiment === 'string' ? experiment : tracing.idOf(projectId, tags[PROJECT_TAG] ?? 'default');
  const [input, output] = [span.input_tokens, span.output_tokens];
  return {
    ...{ id, trace_id, parent_run_id: parent_span_id, session_id: session, name },
    dotted_order: textIn(attributes['langsmith.dotted_order']) ?? '',
    run_type: kind === 'generic' ? 'chain' : kind,
    status: span.has_error ? 'error' : ended_at === null ? 'pending' : 'success',
    ...{ start_time: started_at, end_time: ended_at },
    inputs: contentOf(span.input_data, 'input') ?? {},
    outputs: contentOf(span.output_data, 'output'),
    error: span.error_message === null ? null : [span.error_message, span.error_stack].filter(Boolean).join('\n'),
    extra: extraOf(attributes),
    tags: listIn(attributes['langsmith.span.tags']),
    reference_example_id: textIn(attributes['spanhouse.experiment.row_id']),
    first_token_time: textIn(attributes['langsmith.first_token_time']),
    ...{ prompt_tokens: input, completion_tokens: output, total_cost: span.cost },
    total_tokens: input === null && output === null ? null : (input ?? 0) + (output ?? 0),
    feedback_stats: statsOf(span.scores ?? {}),
    app_path: `/o/${projectId}/projects/p/${session}/r/${id}`,
  };
}

function contentOf(text: string | null, name: string): Record<string, unknown> | null {
  if (text === null) return null;
  const value = valueOf(text);
  const object = asObject(value);
  return object === undefined ? { [name]: value } : { ...object };
}

const METADATA = 'langsmith.metadata.';
const EXTRA = 'langsmith.extra.';

function extraOf(attributes: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const metadata = withPrefix(attributes, METADATA);
  return { ...withPrefix(attributes, EXTRA), metadata };
}

function withPrefix(attributes: Readonly<Record<string, unknown>>, prefix: string): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(attributes).flatMap(([name, value]) =>
      name.startsWith(prefix) ? [[name.slice(prefix.length), value]] : [],
    ),
  );
}

function statsOf(scores: Readonly<Record<string, number | boolean | string>>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(scores).map(([name, value]) => [
      name,
      {
        n: 1,
        avg: typeof value === 'string' ? null : Number(value),
        ...(typeof value === 'string' && { values: { [value]: 1 } }),
      },
    ]),
  );
}

function textIn(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}

function listIn(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((each) => typeof each === 'string') : [];
}
