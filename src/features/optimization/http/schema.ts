import { Type, type Static } from '@sinclair/typebox';
import { jobFields } from '../../../engine/work/schema.js';
import { Interval, SpentRead } from '../../calibration/schema.js';
import { BASE_VERSION } from '../schema.js';
import { readinessFields } from '../../trials/readiness.js';
import { Slug, VersionNumber } from '../../prompts/schema.js';
import { count, oldName, oneOf, orNull, uuid } from '../../../engine/schema/parts.js';
import { queryOf } from '../../../http/query.js';
import { project_id } from '../../../http/parameters.js';

/** How the documentation groups these routes. */
export const TAG = 'Optimizations';

const job_id = uuid('Id of the optimization.');

export const PromptParams = Type.Object({ project_id, prompt_slug: Slug });
export const JobParams = Type.Object({ project_id, prompt_slug: Slug, job_id });

export const PromoteInput = Type.Object(
  { candidate_id: uuid('Candidate to promote to a version.') },
  { $id: 'PromoteCandidate', description: 'Which candidate to promote to a version.' },
);

const comparedBy = oneOf(
  ['judge', 'model'],
  'Who evaluates the outputs. judge: the judge `judge_id`; model: the model decides whether each output says ' +
    'what the expected output says, and it passes if so.',
);

const optimization = {
  ...jobFields,
  prompt_slug: Type.String({ description: 'Slug of the prompt.' }),
  base_version: Type.Integer({ description: 'Version to improve.' }),
  base_version_reason: orNull(
    Type.String({ description: 'Why this version was chosen; null in optimizations from before this was recorded.' }),
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
    judge_id: Type.Optional(uuid('Judge to evaluate the outputs; absent: the model compares them.')),
  }),
);

export const OptimizationReadinessRead = Type.Object(
  {
    prompt_slug: optimization.prompt_slug,
    base_version: Type.Integer({ description: 'Version that would be improved.' }),
    base_version_reason: Type.String({ description: 'Why this version was chosen.' }),
    compared_by: comparedBy,
    judge_id: optimization.judge_id,
    model: orNull(Type.String({ description: 'Model that would be called; null: there is none.' })),
    ...readinessFields({
      training: 'Completions to write candidates from: those with an expected output or a reason.',
      held_out:
        'Other completions to try them on: those with an expected output; with a judge, also those with a reason or ' +
        'thumbs up.',
    }),
  },
  { $id: 'OptimizationReadiness', description: 'Whether a prompt can be optimized with the available feedback.' },
);
export type OptimizationReadinessRead = Static<typeof OptimizationReadinessRead>;

export const OptimizationSummaryRead = Type.Object(optimization, {
  $id: 'OptimizationSummary',
  description: 'An optimization without its candidates.',
});
export type OptimizationSummaryRead = Static<typeof OptimizationSummaryRead>;

const evaluation_result = orNull(
  Type.Boolean({
    description:
      'Whether the judge passed the output, or the model found that it says what was expected; null if that failed.',
  }),
);

const TriedRead = Type.Object(
  {
    span_id: uuid('The completion.'),
    expected_output: orNull(Type.String({ description: 'The expected output; null if there is none.' })),
    output: orNull(Type.String({ description: 'Output with the tried prompt; null if the call failed.' })),
    evaluation_result,
    passed: oldName(evaluation_result, 'evaluation_result'),
    score: orNull(Type.Number({ description: 'Score; null if no scored judge evaluated it.' })),
    reason: orNull(Type.String({ description: 'Reasoning of the judge or model.' })),
    failure: orNull(Type.String({ description: 'Why there is no output or no verdict.' })),
  },
  { description: 'One held-out completion, repeated.' },
);

const arm = {
  content: Type.String({ description: 'Text of the prompt.' }),
  count: count('Completions that were evaluated.'),
  failed: count('Completions with a failed call.'),
  passed: count('Completions that passed.'),
  pass_rate: orNull(Type.Number({ description: '`passed` divided by `count`; null without completions.' })),
  pass_rate_interval: Interval("Wilson's interval of the pass rate, 95 %."),
  mean_score: orNull(Type.Number({ description: 'Mean score; null if there are none.' })),
  mean_score_interval: Interval('Interval of the mean score, 95 %; null for fewer than two different scores.'),
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
        description: 'Difference in `metric`: candidate minus current version, on the same completions.',
      }),
    ),
    difference_interval: Interval('Paired interval of the difference, 95 %; null if all differences are equal.'),
    wins: count('Completions on which the candidate did better.'),
    losses: count('Completions on which the candidate did worse.'),
    ties: count('Completions on which there was no difference.'),
    promoted_version: orNull(
      Type.Integer({ description: 'Version of the prompt that the candidate became; null if it was not promoted.' }),
    ),
  },
  { description: 'A candidate compared with the current version.' },
);

const ResultRead = Type.Object(
  {
    compared_by: comparedBy,
    metric: oneOf(['score', 'pass_rate'], 'What is compared: scores if a scored judge gave them, else pass rates.'),
    current: Type.Object(arm, { description: 'Results of the version to improve.' }),
    candidates: Type.Array(CandidateRead, { description: 'The candidates, best first.' }),
    problem: orNull(Type.String({ description: 'Why there are fewer candidates than requested.' })),
    missing: count('Held-out completions that are no longer stored.'),
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
