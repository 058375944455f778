import { optional } from '../../schema/inputs.js';
import { Type, type Static } from '@sinclair/typebox';
import { jobFields } from '../../job/schema.js';
import { count, orNull, time, uuid } from '../../schema/parts.js';

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
  count: count('Corrections: what a user said of an evaluation, thumbs up or down.'),
  agreed: count('Corrections with thumbs up: the judge was right.'),
  rate: orNull(share('`agreed` of `count`; null without corrections.')),
  rate_interval: Interval("Wilson's interval of the rate, 95 %; null without corrections."),
  spans: count('Different spans that the corrections are of.'),
  verdicts: Type.Object(
    {
      both_pass: count('Judge and person passed it.'),
      judge_pass_human_fail: count('The judge passed what the person failed.'),
      judge_fail_human_pass: count('The judge failed what the person passed.'),
      both_fail: count('Judge and person failed it.'),
    },
    {
      description:
        'Verdicts of judge and person compared, of evaluated spans. An expected score passes when it reaches the ' +
        'threshold; without one, thumbs up stands for the verdict of the judge and thumbs down for the opposite, unless ' +
        '`score_direction` says that a failed score was too high or a passed one too low.',
    },
  ),
  kappa: orNull(
    Type.Number({
      description: "Cohen's κ of `verdicts`; null when nothing is compared or both used one class alone.",
    }),
  ),
  kappa_interval: Interval('Large-sample interval of κ, 95 %; null where its standard error is 0.'),
  scores_compared: count('Corrections that say what the score should have been; thumbs up alone says: what it was.'),
  mean_absolute_score_error: orNull(
    Type.Number({
      minimum: 0,
      description: 'Mean distance of the score from the right one; null when none is compared.',
    }),
  ),
};

const WeekAgreementRead = Type.Object(
  {
    week: Type.String({ description: 'ISO week, UTC, such as `2026-W05`: when the corrections were given.' }),
    start: time('Begin of the week.'),
    ...agreement,
  },
  { description: 'Agreement in one week.' },
);

const VersionAgreementRead = Type.Object(
  {
    version: Type.String({
      description: '`v1`, `v2`, … in the order in which they began; `external`: evaluations that ran elsewhere.',
    }),
    prompt_version: orNull(Type.Integer({ description: 'Version of its instruction; null when it ran elsewhere.' })),
    examples: orNull(
      Type.Object(
        {
          from: count('Lowest revision in this version.'),
          to: count('Highest revision in this version.'),
        },
        {
          description:
            'Revisions of the set of corrections: each one that is new or changed makes the next; 0: none yet.',
        },
      ),
    ),
    began_at: orNull(time('When its first evaluation was stored; null when it ran elsewhere.')),
    evaluations: orNull(count('Evaluations made with it; null when they ran elsewhere.')),
    not_counted: count(
      'Corrections left out: they are of spans that people had spoken of before this evaluation, so that the judge ' +
        'had been told.',
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
    without_evaluation: count('Corrections of spans that the judge had not evaluated.'),
    by_week: Type.Array(WeekAgreementRead, {
      description: 'By the week of the correction; weeks without any are left out.',
    }),
    by_version: Type.Array(VersionAgreementRead, {
      description:
        'By the version of the judge that made the evaluation: a version is its instruction together with the set of ' +
        'corrections it was shown from. With `versions=steps` a version goes on until the revision of that set reaches ' +
        '1, 5, 10, 20, 50, 100, …',
    }),
  },
  { $id: 'Calibration', description: 'How far a judge and people agree.' },
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
        description: `Held-out spans to evaluate at most, those spoken of last. Default: ${DEFAULT_TRIAL_SPANS}.`,
      }),
    ),
  },
  { $id: 'CalibrationTrialInput', description: 'How large the trial is to be.' },
);
export type TrialInputBody = Static<typeof TrialInputBody>;

export const SpentRead = (description: string) =>
  Type.Object(
    {
      calls: count('Calls of a model; each is stored as a span.'),
      input_tokens: count('Input tokens.'),
      output_tokens: count('Output tokens.'),
      cost: orNull(Type.Number({ description: 'US dollars; null when the price of some call is not known.' })),
    },
    { description },
  );

const { count: _count, spans: _spans, verdicts: _verdicts, agreed: _agreed, ...figures } = agreement;
const arm = (description: string) =>
  Type.Object(
    {
      count: count('Spans that were evaluated both times.'),
      agreed: count('Spans with the verdict that people hold to be right.'),
      ...figures,
      spent: SpentRead('What its calls used.'),
    },
    { description },
  );

const verdict = (description: string) =>
  orNull(
    Type.Object(
      {
        evaluation_result: Type.Boolean({ description: 'Whether it passed the span.' }),
        evaluation_reason: Type.String({ description: 'Why.' }),
        score: orNull(Type.Number({ description: 'Score; null of a binary judge.' })),
      },
      { description },
    ),
  );

const SpanChangeRead = Type.Object(
  {
    span_id: uuid('Id of the span.'),
    human: Type.Object(
      {
        passed: Type.Boolean({ description: 'Whether it passes.' }),
        score: orNull(Type.Number({ description: 'Score; null when nobody said.' })),
      },
      { description: 'What people hold to be right.' },
    ),
    before: verdict('Without examples; null when it failed.'),
    after: verdict('With examples; null when it failed.'),
    change: orNull(
      Type.Unsafe<'improved' | 'worsened' | 'same'>({
        type: 'string',
        enum: ['improved', 'worsened', 'same'],
        description: 'Whether it became right, became wrong or neither; null when an evaluation failed.',
      }),
    ),
    failure: orNull(Type.String({ description: 'Why an evaluation failed.' })),
  },
  { description: 'One held-out span.' },
);

const TrialResultRead = Type.Object(
  {
    compared: count('Spans that were evaluated both times.'),
    failed: count('Spans of which an evaluation failed.'),
    missing: count('Spans that are not stored any more.'),
    before: arm('Without examples.'),
    after: arm('With examples from the other half.'),
    improved: count('Spans that became right.'),
    worsened: count('Spans that became wrong.'),
    difference: orNull(Type.Number({ description: 'Rate after less rate before, of the same spans.' })),
    difference_interval: Interval('Interval of the difference, of paired spans, 95 %; null when all changed alike.'),
    spans: Type.Array(SpanChangeRead, { description: 'Each span, the one spoken of last first.' }),
  },
  { description: 'Before and after.' },
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
    result: Type.Union([TrialResultRead, Type.Null()], { description: 'Before and after; null until it is done.' }),
  },
  { $id: 'CalibrationTrial', description: 'A judge measured without and with the corrections it was given.' },
);
export type CalibrationTrialRead = Static<typeof CalibrationTrialRead>;

export const CalibrationTrialSummaryRead = Type.Object(trial, {
  $id: 'CalibrationTrialSummary',
  description: 'A trial without its result.',
});
export type CalibrationTrialSummaryRead = Static<typeof CalibrationTrialSummaryRead>;
