import { Type, type Static } from '@sinclair/typebox';
import { count, number, oldName, orNull, time, uuid } from '../../engine/schema/parts.js';
import { MismatchRead } from './run-schema.js';
import { CriteriaScoresRead, JudgeInput } from './schema.js';

/** Most spans that a draft is tried on. */
const MAX_TRIED = 3;

export const JudgePreviewInput = Type.Object(
  {
    ...JudgeInput.properties,
    try: Type.Optional(
      Type.Union(
        [
          Type.Boolean({ description: 'true: the first of the sample.' }),
          Type.Array(uuid('Id of a span, or of a trace or session if the judge evaluates these.'), {
            minItems: 1,
            maxItems: MAX_TRIED,
            description: 'Ids to ask about.',
          }),
          Type.Null(),
        ],
        {
          description: `Spans, traces or sessions about which to ask the model now: up to ${MAX_TRIED} ids, or true for the first of the sample.`,
        },
      ),
    ),
  },
  { $id: 'JudgePreviewInput', description: 'The settings of a judge, which is not created.' },
);
export type JudgePreviewInput = Static<typeof JudgePreviewInput>;

const input_data = orNull(Type.String({ description: 'Input; long texts are shortened in the middle. Null: none.' }));
const output_data = orNull(Type.String({ description: 'Output; long texts are shortened in the middle. Null: none.' }));

const subject_id = orNull(uuid('The trace or session that the judge would evaluate; null: the span.'));

const SampleSpan = Type.Object(
  {
    id: uuid('Id of the span; for a trace or session: of the span that represents it.'),
    trace_id: uuid('Id of its trace.'),
    subject_id,
    outline: orNull(
      Type.String({
        description: 'Outline of the trace or session; long texts are shortened in the middle. Null: for a span.',
      }),
    ),
    name: Type.String({ description: 'Name of the span.' }),
    kind: Type.String({ description: 'Kind of the span.' }),
    started_at: time('Start time.'),
    input_data,
    output_data,
    input: oldName(input_data, 'input_data'),
    output: oldName(output_data, 'output_data'),
  },
  { description: 'A matching span, or a trace or session with one.' },
);

const Estimate = Type.Object(
  {
    spans: count('Latest matching spans, traces or sessions on which the estimate is based.'),
    input_tokens_per_evaluation: number(
      'Input tokens per evaluation, estimated at four characters per token of the request.',
    ),
    output_tokens_per_evaluation: number('Output tokens per evaluation: a short answer in the requested form.'),
    input_tokens_per_day: number('Input tokens per day.'),
    output_tokens_per_day: number('Output tokens per day.'),
    cost_per_day: orNull(number('US dollars per day, by the price of the model; null if it is unknown.')),
    cost_unknown_reason: orNull(Type.String({ description: 'Why the cost is unknown; null if it is known.' })),
  },
  { description: 'Daily estimate for the judge, without corrections, which it is shown once there are some.' },
);

const TryoutRead = Type.Object(
  {
    span_id: uuid('Id of the span; for a trace or session: of the span that represents it.'),
    subject_id,
    mismatches: Type.Array(MismatchRead, {
      description:
        'Filters that the span does not match, so that the judge would not evaluate it automatically. Empty for a trace or session.',
    }),
    request: orNull(
      Type.Object(
        {
          model: Type.String({ description: 'Requested model.' }),
          temperature: orNull(number("Temperature; null: the model's own default.")),
          messages: Type.Array(
            Type.Object(
              {
                role: Type.String({ description: 'Role of the message.' }),
                content: Type.String({ description: 'Content of the message.' }),
              },
              { description: 'A message.' },
            ),
            { description: 'Messages.' },
          ),
          schema: orNull(Type.Unknown({ description: 'JSON Schema of the requested answer.' })),
        },
        { description: 'The request as sent; null if the model could not be called.' },
      ),
    ),
    verdict: orNull(
      Type.Object(
        {
          evaluation_result: Type.Boolean({ description: 'Whether it passed.' }),
          evaluation_reason: Type.String({ description: "The judge's reasoning." }),
          confidence_score: orNull(number('Confidence of the judge, from 0 to 1; null if it gave none.')),
          score: orNull(number('Score; null for a binary judge.')),
          criteria_scores: CriteriaScoresRead,
        },
        { description: 'The verdict of the model; null if it failed.' },
      ),
    ),
    failure: orNull(Type.String({ description: 'Why there is no verdict; null if there is one.' })),
    model_used: orNull(Type.String({ description: 'Model that responded; null if unknown.' })),
    duration_ms: number('Total duration of the calls, in milliseconds.'),
    input_tokens: count('Input tokens, as the model endpoint counted them.'),
    output_tokens: count('Output tokens, as the model endpoint counted them.'),
    cost: orNull(number('US dollars; null if the price is unknown.')),
  },
  { description: 'Result for one span, trace or session.' },
);

export const JudgePreviewRead = Type.Object(
  {
    runnable: Type.Boolean({ description: 'Whether the judge could run.' }),
    not_runnable_reason: orNull(Type.String({ description: 'Why the judge could not run; null if it could.' })),
    model: orNull(Type.String({ description: 'Model that would be called; null: none is named.' })),
    since: time('Start of the last 24 hours: spans that arrived since then are counted.'),
    matches: count("Spans of the last 24 hours that the judge's filters match; traces or sessions with such a span."),
    other_kinds: Type.Array(
      Type.Object(
        { kind: Type.String({ description: 'Kind of span.' }), spans: count('Spans of this kind.') },
        { description: 'An excluded kind.' },
      ),
      {
        description:
          'Kinds of spans that the judge would also have evaluated in this period without `filters.kinds`: the ten most ' +
          'frequent; empty without that filter.',
      },
    ),
    evaluations_per_day: number(
      'Evaluations per day, on average, at the sample rate: of spans, each once; of traces and sessions, once after each time they were quiet.',
    ),
    sample: Type.Array(SampleSpan, { description: 'The latest of them, at most five.' }),
    estimate: orNull(Estimate),
    tried: Type.Array(TryoutRead, { description: 'Results of `try`; empty without it.' }),
  },
  { $id: 'JudgePreview', description: 'A preview of a judge.' },
);
export type JudgePreviewRead = Static<typeof JudgePreviewRead>;
