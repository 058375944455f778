import { Type, type Static } from '@sinclair/typebox';
import { FEEDBACK_STATES, VERDICTS } from '../completion-lists.js';
import type { Issue } from '../../../engine/errors.js';
import { Interval } from '../../calibration/schema.js';
import { pageRead } from '../../../engine/schema/page.js';
import { count, number, oldName, oneOf, orNull, time, uuid } from '../../../engine/schema/parts.js';
import { page } from '../../../http/page.js';
import { endTime, time as timeParameter } from '../../../http/parameter.js';
import { queryOf } from '../../../http/query.js';

/** How the documentation groups these routes. */
export const TAG = 'Prompts';

const times = {
  started_after: Type.Optional(timeParameter('Only completions that started then or later.')),
  started_before: Type.Optional(endTime('Only completions that started then or earlier.')),
};

function checkTimes({
  started_after: from,
  started_before: to,
}: {
  started_after?: number;
  started_before?: number;
}): Issue[] {
  if (from === undefined || to === undefined || from <= to) return [];
  return [{ pointer: '?started_before', detail: 'must not be before started_after' }];
}

const Query = Type.Object({
  ...page({ maxLimit: 500, defaultLimit: 50 }),
  ...times,
  version: Type.Optional(
    Type.String({
      pattern: '^(none|[1-9]\\d{0,8})$',
      'x-must': 'be the number of a version, or none',
      description:
        'Only completions of the version with this number; none: only those that name no version of the prompt.',
    }),
  ),
  feedback: Type.Optional(
    oneOf(
      FEEDBACK_STATES,
      'up, down: only completions with at least one thumbs up, or down; none: only those without feedback. With ' +
        'this filter, or with `verdict`, the time range may contain at most 100,000 completions.',
    ),
  ),
  verdict: Type.Optional(
    oneOf(
      VERDICTS,
      'By the latest evaluation of each judge. passed: only completions that all of them passed; failed: only those ' +
        'that some did not; none: only those that were not evaluated.',
    ),
  ),
  judge_id: Type.Optional(uuid('Only evaluations by this judge count and are shown.')),
  sort_order: oneOf(['asc', 'desc'], 'Order by start. desc: newest first; asc: oldest first.', 'desc'),
});

export const completionQuery = queryOf(Query, {
  check: checkTimes,
  to: ({ started_after, started_before, version, feedback, verdict, judge_id, sort_order, limit, offset }) => ({
    filter: {
      from: started_after ?? null,
      to: started_before ?? null,
      version: version === undefined ? null : version === 'none' ? ('none' as const) : Number(version),
      feedback: feedback ?? null,
      verdict: verdict ?? null,
      judgeId: judge_id ?? null,
    },
    order: { window: { limit, offset }, descending: sort_order === 'desc' },
  }),
});

export const statisticsQuery = queryOf(Type.Object(times), {
  check: checkTimes,
  to: ({ started_after: from = null, started_before: to = null }) => ({ from, to }),
});

const cost = orNull(number('US dollars; null if unknown.'));

const input_data = orNull(
  Type.String({ description: 'Input; long texts are shortened in the middle, with a note. Null: none.' }),
);
const output_data = orNull(
  Type.String({ description: 'Output; long texts are shortened in the middle, with a note. Null: none.' }),
);

const CompletionRead = Type.Object(
  {
    id: uuid('Id of the span.'),
    trace_id: uuid('Id of its trace.'),
    name: Type.String({ description: 'Name of the span.' }),
    started_at: time('Start time.'),
    has_error: Type.Boolean({ description: 'Whether it has an error.' }),
    duration_ms: orNull(number('Duration in milliseconds; null if unknown.')),
    cost,
    prompt_version: orNull(Type.Integer({ description: 'Version of the prompt; null if the span names none.' })),
    input_data,
    output_data,
    input: oldName(input_data, 'input_data'),
    output: oldName(output_data, 'output_data'),
    thumbs_up: count('Number of people who gave thumbs up.'),
    thumbs_down: count('Number of people who gave thumbs down.'),
    verdicts: Type.Array(
      Type.Object(
        {
          judge_id: uuid('Id of the judge.'),
          judge_name: Type.String({ description: 'Name of the judge, including deleted ones.' }),
          evaluation_id: uuid('Id of its latest evaluation.'),
          evaluation_result: Type.Boolean({ description: 'Whether the span passed.' }),
          score: orNull(number('Score; null for a binary evaluation.')),
        },
        { description: 'The latest evaluation by a judge.' },
      ),
      { description: 'The latest evaluation by each judge.' },
    ),
  },
  { $id: 'Completion', description: 'A completion of a prompt, with feedback and evaluations.' },
);

export const CompletionPageRead = Type.Object(
  { completions: Type.Array(CompletionRead, { description: 'The completions of this page.' }), ...pageRead },
  { $id: 'CompletionPage', description: 'A page of completions.' },
);
export type CompletionPageRead = Static<typeof CompletionPageRead>;

const share = (of: string) => ({
  rate: orNull(number(`${of} null without any.`)),
  rate_interval: Interval("Wilson's interval of the rate, 95 %; null without any."),
});

const VersionFigures = Type.Object(
  {
    version: orNull(
      Type.Integer({ description: 'Number of the version; null: completions that name no version of the prompt.' }),
    ),
    calls: count('Completions.'),
    errors: count('Completions with an error.'),
    cost: orNull(number('US dollars, of those whose cost is known; null if none is.')),
    duration_ms: Type.Object(
      {
        p50: orNull(number('Median; null if no duration is known.')),
        p95: orNull(number('95th percentile; null if no duration is known.')),
      },
      { description: 'Durations in milliseconds.' },
    ),
    input_tokens: count('Input tokens.'),
    output_tokens: count('Output tokens.'),
    thumbs: Type.Object(
      {
        up: count('Completions with at least one thumbs up.'),
        down: count('Completions with at least one thumbs down.'),
        ...share('`up` divided by the sum of both;'),
      },
      { description: 'Feedback of people.' },
    ),
    judges: Type.Array(
      Type.Object(
        {
          judge_id: uuid('Id of the judge.'),
          judge_name: Type.String({ description: 'Name of the judge, including deleted ones.' }),
          evaluated: count('Completions that the judge evaluated.'),
          passed: count('Those that passed in the latest evaluation by the judge.'),
          ...share('`passed` divided by `evaluated`;'),
        },
        { description: 'Results of one judge.' },
      ),
      { description: 'Results of each judge.' },
    ),
  },
  { description: 'Summary of the completions of one version.' },
);

export const VersionStatisticsRead = Type.Object(
  {
    versions: Type.Array(VersionFigures, {
      description: 'By version, newest first, without versions that have no completions.',
    }),
    looked_up: Type.Object(
      { completions: count('Number of completions covered, the newest.'), of: count('All completions.') },
      { description: 'How many completions the thumbs and verdicts cover. All other figures cover all completions.' },
    ),
  },
  { $id: 'PromptVersionStatistics', description: 'Summary of the completions of a prompt by version.' },
);
export type VersionStatisticsRead = Static<typeof VersionStatisticsRead>;
