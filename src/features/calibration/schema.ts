import { optional } from '../../engine/schema/inputs.js';
import { Type, type Static } from '@sinclair/typebox';
import { jobFields } from '../../engine/work/schema.js';
import { count, oldName, orNull, time, uuid } from '../../engine/schema/parts.js';
import { readinessFields } from '../trials/readiness.js';

const share = (description: string) => Type.Number({ minimum: 0, maximum: 1, description });

export const Interval = (description: string) =>
  Type.Union(
    [
      Type.Object({
        low: Type.Number({ description: 'Lower end.' }),
        high: Type.Number({ description: 'Upper end.' }),
      }),
      Type.Null(),
    ],
    { description },
  );

/** Figures of agreement from corrections of a judge. */
const agreement = {
  count: count("Corrections: users' feedback on evaluations by the judge, thumbs up or down."),
  agreed: count('Corrections with thumbs up, which say that the judge was right.'),
  rate: orNull(share('`agreed` divided by `count`; null without corrections.')),
  rate_interval: Interval("Wilson's interval of the rate, 95 %; null without corrections."),
  spans: count('Different spans that corrections are about.'),
  verdicts: Type.Object(
    {
      both_pass: count('Spans that both judge and person passed.'),
      judge_pass_human_fail: count('Spans that the judge passed and the person failed.'),
      judge_fail_human_pass: count('Spans that the judge failed and the person passed.'),
      both_fail: count('Spans that both judge and person failed.'),
    },
    {
      description:
        'Evaluated spans, by the verdicts of judge and person. An expected score passes if it reaches the threshold. ' +
        'Without one, thumbs up means the verdict of the judge and thumbs down the opposite, unless `score_direction` ' +
        'says that a failed score was too high or a passed one too low.',
    },
  ),
  kappa: orNull(
    Type.Number({
      description: "Cohen's κ of `verdicts`; null if nothing is compared or both used only one class.",
    }),
  ),
  kappa_interval: Interval('Large-sample interval of κ, 95 %; null if its standard error is 0.'),
  scores_compared: count("Corrections with an expected score; thumbs up alone means the judge's own score."),
  mean_absolute_score_error: orNull(
    Type.Number({
      minimum: 0,
      description: "Mean distance of the judge's score from the expected one; null if none is compared.",
    }),
  ),
};

const WeekAgreementRead = Type.Object(
  {
    week: Type.String({ description: 'ISO week, UTC, such as `2026-W05`: when the corrections were given.' }),
    start: time('Start of the week.'),
    ...agreement,
  },
  { description: 'Agreement in one week.' },
);

const VersionAgreementRead = Type.Object(
  {
    version: Type.String({
      description:
        'Name of the version of the judge: `v1`, `v2`, … in the order in which they started; `external`: evaluations ' +
        'that ran elsewhere and name no version.',
    }),
    prompt_version: orNull(
      Type.Integer({
        description:
          "Version of the judge's instruction; null for evaluations that ran elsewhere, and if the version was deleted.",
      }),
    ),
    prompt_version_id: orNull(uuid('Id of this version of the instruction; null for evaluations that ran elsewhere.')),
    examples: orNull(
      Type.Object(
        {
          from: count('Lowest revision in this version.'),
          to: count('Highest revision in this version.'),
        },
        {
          description:
            'Revisions of the set of corrections: each new or changed correction creates the next one; 0: none yet.',
        },
      ),
    ),
    began_at: orNull(
      time('When the first evaluation by this version was stored; null for evaluations that ran elsewhere.'),
    ),
    evaluations: orNull(count('Evaluations made with this version; null if they ran elsewhere.')),
    not_counted: count(
      'Excluded corrections: people had given feedback on their spans before this evaluation, so the judge knew it.',
    ),
    ...agreement,
  },
  { description: 'Agreement about the evaluations of one version of the judge.' },
);

export const CalibrationRead = Type.Object(
  {
    judge_id: uuid('Id of the judge.'),
    confidence: share('Confidence of every interval.'),
    ...agreement,
    kappa: orNull(
      Type.Number({
        description:
          "Cohen's κ of judge and people for the newest version of the judge, `kappa_version`, as in `by_version`; null " +
          'if it is not defined there, for example before people have reviewed its evaluations.',
      }),
    ),
    kappa_interval: Interval('Large-sample interval of `kappa`, 95 %; null if its standard error is 0.'),
    kappa_version: orNull(
      Type.String({ description: 'The version of `kappa`: the last to start; null: there is none.' }),
    ),
    kappa_of_all: orNull(
      Type.Number({ description: "Cohen's κ of `verdicts`, of all versions together; null if it is not defined." }),
    ),
    kappa_of_all_interval: Interval('Its interval, 95 %; null if its standard error is 0.'),
    without_evaluation: count('Corrections of spans that the judge had not evaluated.'),
    by_week: Type.Array(WeekAgreementRead, {
      description: 'Agreement by week of the corrections, without weeks that have none.',
    }),
    by_version: Type.Array(VersionAgreementRead, {
      description:
        'Agreement by the version of the judge that made the evaluation: a version is its instruction together with ' +
        'the set of corrections from which it was shown some. With `versions=steps`, a version continues until the ' +
        'revision of that set reaches 1, 5, 10, 20, 50, 100, …',
    }),
    revision: orNull(
      count(
        'Revision of the corrections for the next evaluation: each new or changed correction creates the next one. ' +
          'Null: judges are shown no corrections (`JUDGE_EXAMPLE_TOKENS` is 0).',
      ),
    ),
    corrections_per_call: orNull(
      Type.Object(
        {
          corrections: count('Corrections that a call shows, on average.'),
          input_tokens: count('Input tokens that they add, estimated at four characters per token.'),
          model: orNull(Type.String({ description: 'Model that would be called; null: none is named.' })),
          cost: orNull(
            Type.Number({
              description: 'Cost of these tokens in US dollars, without cache discounts; null if the price is unknown.',
            }),
          ),
          cost_unknown_reason: orNull(Type.String({ description: 'Why the cost is unknown; null if it is known.' })),
        },
        {
          description:
            'What corrections add to each call of the judge, by the newest of them now, regardless of the requested ' +
            'period. Null: it is shown none, or their spans cannot be read now.',
        },
      ),
    ),
    trial: Type.Object(
      readinessFields({
        training: 'Corrected spans whose corrections a trial shows as examples, whenever they were given.',
        held_out: 'Other corrected spans, which a trial evaluates.',
      }),
      {
        description:
          'Whether `calibration:evaluate` can run. A hash of its id permanently assigns a corrected span to one of the ' +
          'halves.',
      },
    ),
  },
  { $id: 'Calibration', description: 'Agreement between a judge and people.' },
);
export type CalibrationRead = Static<typeof CalibrationRead>;

/** Default number of spans of a trial. */
export const DEFAULT_TRIAL_SPANS = 200;
const MAX_TRIAL_SPANS = 1_000;

export const TrialInputBody = Type.Object(
  {
    max_spans: optional(
      Type.Integer({
        minimum: 1,
        maximum: MAX_TRIAL_SPANS,
        description: `Maximum number of held-out spans to evaluate, those with the latest feedback. Default: ${DEFAULT_TRIAL_SPANS}.`,
      }),
    ),
  },
  { $id: 'CalibrationTrialInput', description: 'Size of the trial.' },
);
export type TrialInputBody = Static<typeof TrialInputBody>;

export const SpentRead = (description: string) =>
  Type.Object(
    {
      calls: count('Calls of a model; each is stored as a span.'),
      input_tokens: count('Input tokens.'),
      output_tokens: count('Output tokens.'),
      cost: orNull(Type.Number({ description: 'US dollars; null if the price of some call is unknown.' })),
    },
    { description },
  );

const { count: _count, spans: _spans, verdicts: _verdicts, agreed: _agreed, ...figures } = agreement;
const arm = (description: string) =>
  Type.Object(
    {
      count: count('Spans that were evaluated both times.'),
      agreed: count('Spans with the verdict that people expect.'),
      ...figures,
      spent: SpentRead('Calls, tokens and cost of these evaluations.'),
    },
    { description },
  );

const verdict = (description: string) =>
  orNull(
    Type.Object(
      {
        evaluation_result: Type.Boolean({ description: 'Whether the judge passed the span.' }),
        evaluation_reason: Type.String({ description: "The judge's reasoning." }),
        score: orNull(Type.Number({ description: 'Score; null for a binary judge.' })),
      },
      { description },
    ),
  );

const humanVerdict = Type.Boolean({ description: 'Whether the span passes.' });

const SpanChangeRead = Type.Object(
  {
    span_id: uuid('Id of the span.'),
    human: Type.Object(
      {
        evaluation_result: humanVerdict,
        passed: oldName(humanVerdict, 'evaluation_result'),
        score: orNull(Type.Number({ description: 'Score; null if there is none.' })),
      },
      { description: 'The verdict that people expect.' },
    ),
    before: verdict('Evaluation without examples; null if it failed.'),
    after: verdict('Evaluation with examples; null if it failed.'),
    change: orNull(
      Type.Unsafe<'improved' | 'worsened' | 'same'>({
        type: 'string',
        enum: ['improved', 'worsened', 'same'],
        description:
          'Whether the verdict became right, became wrong or neither with examples; null if an evaluation failed.',
      }),
    ),
    failure: orNull(Type.String({ description: 'Why an evaluation failed.' })),
  },
  { description: 'One held-out span.' },
);

const TrialResultRead = Type.Object(
  {
    compared: count('Spans that were evaluated both times.'),
    failed: count('Spans with a failed evaluation.'),
    missing: count('Spans that are no longer stored.'),
    before: arm('Evaluations without examples.'),
    after: arm('Evaluations with corrections of the other half as examples.'),
    improved: count('Spans that became right.'),
    worsened: count('Spans that became wrong.'),
    difference: orNull(Type.Number({ description: 'Rate with examples minus rate without, for the same spans.' })),
    difference_interval: Interval('Paired interval of the difference, 95 %; null if all changed alike.'),
    spans: Type.Array(SpanChangeRead, { description: 'Each held-out span, the one with the latest feedback first.' }),
  },
  { description: 'Agreement without and with examples.' },
);

const trial = {
  ...jobFields,
  judge_id: uuid('Id of the judge.'),
  prompt_version: Type.Integer({ description: 'Version of the instruction that is tried.' }),
  held_out: count('Spans to evaluate.'),
  examples: count('Spans of the other half, whose corrections are shown as examples.'),
};

export const CalibrationTrialRead = Type.Object(
  {
    ...trial,
    result: Type.Union([TrialResultRead, Type.Null()], {
      description: 'Agreement without and with examples; null until the job is done.',
    }),
  },
  { $id: 'CalibrationTrial', description: 'A judge measured without and with its corrections.' },
);
export type CalibrationTrialRead = Static<typeof CalibrationTrialRead>;

export const CalibrationTrialSummaryRead = Type.Object(trial, {
  $id: 'CalibrationTrialSummary',
  description: 'A trial without its result.',
});
export type CalibrationTrialSummaryRead = Static<typeof CalibrationTrialSummaryRead>;
