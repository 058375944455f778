import { Type, type Static } from '@sinclair/typebox';
import { jobFields } from '../../../../domain/job/schema.js';
import { Interval, SpentRead } from '../../../../domain/learning/calibration/schema.js';
import { BASE_VERSION } from '../../../../domain/learning/optimization/schema.js';
import { readinessFields } from '../../../../domain/learning/trial/readiness.js';
import { Slug, VersionNumber } from '../../../../domain/prompt/schema.js';
import { count, oldName, oneOf, orNull, uuid } from '../../../../domain/schema/parts.js';
import { queryOf } from '../../query.js';
import { project_id } from '../parameters.js';

/** How the documentation groups these routes. */
export const TAG = 'Optimizations';

const job_id = uuid('Id of the optimisation.');

export const PromptParams = Type.Object({ project_id, prompt_slug: Slug });
export const JobParams = Type.Object({ project_id, prompt_slug: Slug, job_id });

export const PromoteInput = Type.Object(
  { candidate_id: uuid('Candidate that is to become a version.') },
  { $id: 'PromoteCandidate', description: 'Which candidate becomes a version.' },
);

const comparedBy = oneOf(
  ['judge', 'model'],
  'Who evaluates the outputs. judge: the judge `judge_id`; model: the model decides whether each output says what the ' +
    'expected output says, and it passes when it does.',
);

const optimization = {
  ...jobFields,
  prompt_slug: Type.String({ description: 'Slug of the prompt.' }),
  base_version: Type.Integer({ description: 'Version to improve.' }),
  base_version_reason: orNull(
    Type.String({ description: 'Why it is this version; null in optimisations from before it was noted.' }),
  ),
  compared_by: comparedBy,
  judge_id: orNull(uuid('Judge that evaluates the outputs of each prompt; null: the model compares them.')),
  model: Type.String({ description: 'Model that writes the candidates and completes with them.' }),
  training: count('Completions from whose feedback the candidates are written.'),
  held_out: count('Other completions, on which each prompt is tried.'),
};

export const readinessQuery = queryOf(
  Type.Object({
    base_version: Type.Optional(Type.Integer({ ...VersionNumber, description: BASE_VERSION })),
    judge_id: Type.Optional(uuid('Judge that is to evaluate the outputs; absent: the model compares them.')),
  }),
);

export const OptimizationReadinessRead = Type.Object(
  {
    prompt_slug: optimization.prompt_slug,
    base_version: Type.Integer({ description: 'Version that would be improved.' }),
    base_version_reason: Type.String({ description: 'Why it is this version.' }),
    compared_by: comparedBy,
    judge_id: optimization.judge_id,
    model: orNull(Type.String({ description: 'Model that would be asked; null: there is none.' })),
    ...readinessFields({
      training: 'Completions to write candidates from: those with an expected output or a reason.',
      held_out:
        'Other completions to try them on: those with an expected output; with a judge, those with a reason or thumbs up, too.',
    }),
  },
  { $id: 'OptimizationReadiness', description: 'Whether a prompt can be optimised with the feedback that there is.' },
);
export type OptimizationReadinessRead = Static<typeof OptimizationReadinessRead>;

export const OptimizationSummaryRead = Type.Object(optimization, {
  $id: 'OptimizationSummary',
  description: 'An optimisation without its candidates.',
});
export type OptimizationSummaryRead = Static<typeof OptimizationSummaryRead>;

const evaluation_result = orNull(
  Type.Boolean({
    description:
      'Whether the judge passed the output, or the model found that it says what was expected; null when that failed.',
  }),
);

const TriedRead = Type.Object(
  {
    span_id: uuid('The completion.'),
    expected_output: orNull(Type.String({ description: 'What people expected; null when nobody said.' })),
    output: orNull(Type.String({ description: 'Output with the tried prompt; null when the call failed.' })),
    evaluation_result,
    passed: oldName(evaluation_result, 'evaluation_result'),
    score: orNull(Type.Number({ description: 'Score; null when no scored judge evaluated it.' })),
    reason: orNull(Type.String({ description: 'The reasoning of the judge or model.' })),
    failure: orNull(Type.String({ description: 'Why there is no output or no verdict.' })),
  },
  { description: 'One held-out completion, made again.' },
);

const arm = {
  content: Type.String({ description: 'Text of the prompt.' }),
  count: count('Completions that were evaluated.'),
  failed: count('Completions of which a call failed.'),
  passed: count('Completions that passed.'),
  pass_rate: orNull(Type.Number({ description: '`passed` divided by `count`; null without completions.' })),
  pass_rate_interval: Interval("Wilson's interval of the pass rate, 95 %."),
  mean_score: orNull(Type.Number({ description: 'Mean score; null when there are none.' })),
  mean_score_interval: Interval('Interval of the mean score, 95 %; null of fewer than two different scores.'),
  spent: SpentRead('Calls, tokens and cost of trying this prompt.'),
  results: Type.Array(TriedRead, { description: 'Each completion, the one with the latest feedback first.' }),
};

const CandidateRead = Type.Object(
  {
    id: uuid('Id of the candidate.'),
    rationale: Type.String({ description: "The model's description of its changes." }),
    ...arm,
    compared: count('Completions that were evaluated with both prompts.'),
    difference: orNull(
      Type.Number({
        description: 'Difference of `metric`: candidate minus current version, for the same completions.',
      }),
    ),
    difference_interval: Interval('Interval of the difference, of pairs, 95 %; null when all differ alike.'),
    wins: count('Completions on which the candidate did better.'),
    losses: count('Completions on which the candidate did worse.'),
    ties: count('Completions on which the candidate did the same.'),
    promoted_version: orNull(
      Type.Integer({ description: 'Version of the prompt that the candidate became; null: it was not promoted.' }),
    ),
  },
  { description: 'A candidate compared with the current version.' },
);

const ResultRead = Type.Object(
  {
    compared_by: comparedBy,
    metric: oneOf(['score', 'pass_rate'], 'What is compared: scores when a scored judge gave them, else pass rates.'),
    current: Type.Object(arm, { description: 'Results of the version to improve.' }),
    candidates: Type.Array(CandidateRead, { description: 'The candidates, the best first.' }),
    problem: orNull(Type.String({ description: 'Why there are fewer candidates than were asked for.' })),
    missing: count('Held-out completions that are not stored any more.'),
    spent: SpentRead('Calls, tokens and cost of the whole job.'),
  },
  { description: 'Results of the candidates and of the current version.' },
);

export const OptimizationRead = Type.Object(
  {
    ...optimization,
    result: Type.Union([ResultRead, Type.Null()], { description: 'Results; null until the job is done.' }),
  },
  {
    $id: 'Optimization',
    description: 'Better versions of a prompt, written from feedback and tried on other feedback.',
  },
);
export type OptimizationRead = Static<typeof OptimizationRead>;
