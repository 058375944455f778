import { Type, type Static } from '@sinclair/typebox';
import { count, number, oldName, orNull, time, uuid } from '../schema/parts.js';
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
          Type.Boolean({ description: 'true: the first span of the sample.' }),
          Type.Array(uuid('Id of a span.'), { minItems: 1, maxItems: MAX_TRIED, description: 'These spans.' }),
          Type.Null(),
        ],
        {
          description: `Spans that the model is asked about now: up to ${MAX_TRIED} ids, or true for the first span of the sample.`,
        },
      ),
    ),
  },
  { $id: 'JudgePreviewInput', description: 'A judge as one to make, which is not made.' },
);
export type JudgePreviewInput = Static<typeof JudgePreviewInput>;

const input_data = orNull(Type.String({ description: 'Input; the middle of a long one is left out. Null: none.' }));
const output_data = orNull(Type.String({ description: 'Output; the middle of a long one is left out. Null: none.' }));

const SampleSpan = Type.Object(
  {
    id: uuid('Id of the span.'),
    trace_id: uuid('Id of its trace.'),
    name: Type.String({ description: 'Name of the span.' }),
    kind: Type.String({ description: 'Kind of the span.' }),
    started_at: time('When it started.'),
    input_data,
    output_data,
    input: oldName(input_data, 'input_data'),
    output: oldName(output_data, 'output_data'),
  },
  { description: 'A span that matches.' },
);

const Estimate = Type.Object(
  {
    spans: count('Latest matching spans that the estimate is made of.'),
    input_tokens_per_evaluation: number('Input tokens of an evaluation: four characters of the request are one.'),
    output_tokens_per_evaluation: number(
      'Output tokens of an evaluation: a short answer of the form that is asked for.',
    ),
    input_tokens_per_day: number('Input tokens a day.'),
    output_tokens_per_day: number('Output tokens a day.'),
    cost_per_day: orNull(number('US dollars a day, by the price of the model; null when it is not known.')),
    cost_unknown_reason: orNull(Type.String({ description: 'Why the cost is not known; null when it is.' })),
  },
  { description: 'What the judge would come to in a day; without corrections, which it is shown once there are some.' },
);

const TryoutRead = Type.Object(
  {
    span_id: uuid('Id of the span.'),
    mismatches: Type.Array(MismatchRead, {
      description: 'Filters that the span does not match: the judge would not evaluate it by itself.',
    }),
    request: orNull(
      Type.Object(
        {
          model: Type.String({ description: 'Model that was asked for.' }),
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
          schema: orNull(Type.Unknown({ description: 'JSON Schema that the answer is asked for by.' })),
        },
        { description: 'The request as it was sent; null when nothing could be asked.' },
      ),
    ),
    verdict: orNull(
      Type.Object(
        {
          evaluation_result: Type.Boolean({ description: 'Whether the span passed.' }),
          evaluation_reason: Type.String({ description: "The judge's reasoning." }),
          confidence_score: orNull(number('How sure the judge was, from 0 to 1; null when it did not say.')),
          score: orNull(number('Score; null of a binary judge.')),
          criteria_scores: CriteriaScoresRead,
        },
        { description: 'What the model found; null when it failed.' },
      ),
    ),
    failure: orNull(Type.String({ description: 'Why there is no verdict; null when there is one.' })),
    model_used: orNull(Type.String({ description: 'Model that answered; null when it is not known.' })),
    duration_ms: number('Time that the calls took together, in milliseconds.'),
    input_tokens: count('Input tokens, as the model endpoint counted them.'),
    output_tokens: count('Output tokens, as the model endpoint counted them.'),
    cost: orNull(number('US dollars; null when the price is not known.')),
  },
  { description: 'What the model says of one span.' },
);

export const JudgePreviewRead = Type.Object(
  {
    runnable: Type.Boolean({ description: 'Whether the judge could run.' }),
    not_runnable_reason: orNull(Type.String({ description: 'Why the judge could not run; null when it could.' })),
    model: orNull(Type.String({ description: 'Model that would be asked; null: none is named.' })),
    since: time('Begin of the last 24 hours: spans that arrived since then are counted.'),
    matches: count('Spans of the last 24 hours that the judge would have taken by its filters.'),
    other_kinds: Type.Array(
      Type.Object(
        { kind: Type.String({ description: 'Kind of span.' }), spans: count('Spans of this kind.') },
        { description: 'A kind that is left out.' },
      ),
      {
        description:
          'Kinds of spans that the judge would have taken in this time, too, but for `filters.kinds`: the ten most frequent; empty without that filter.',
      },
    ),
    evaluations_per_day: number('How many of them are evaluated at the sample rate, on average.'),
    sample: Type.Array(SampleSpan, { description: 'The latest of them, at most five.' }),
    estimate: orNull(Estimate),
    tried: Type.Array(TryoutRead, { description: 'What `try` asked for; empty without it.' }),
  },
  { $id: 'JudgePreview', description: 'What a judge would do.' },
);
export type JudgePreviewRead = Static<typeof JudgePreviewRead>;
