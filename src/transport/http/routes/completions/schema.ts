import { Type, type Static } from '@sinclair/typebox';
import { FEEDBACK_STATES, VERDICTS } from '../../../../domain/completions/completion-lists.js';
import type { Issue } from '../../../../domain/errors.js';
import { Interval } from '../../../../domain/learning/calibration/schema.js';
import { pageRead } from '../../../../domain/schema/page.js';
import { count, number, oldName, oneOf, orNull, time, uuid } from '../../../../domain/schema/parts.js';
import { page } from '../../page.js';
import { endTime, time as timeParameter } from '../../parameter.js';
import { queryOf } from '../../query.js';

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
        'Only completions made with the version of this number; none: only those that name no version of the prompt.',
    }),
  ),
  feedback: Type.Optional(
    oneOf(
      FEEDBACK_STATES,
      'up, down: only completions that somebody gave thumbs up, or down; none: only those that nobody gave feedback. With ' +
        'it, or with `verdict`, the times may leave at most 100,000 completions.',
    ),
  ),
  verdict: Type.Optional(
    oneOf(
      VERDICTS,
      'By the latest evaluation by each judge. passed: only completions that all of them passed; failed: only those that some ' +
        'did not; none: only those that were not evaluated.',
    ),
  ),
  judge_id: Type.Optional(uuid('Only evaluations by this judge count, and are shown.')),
  sort_order: oneOf(['asc', 'desc'], 'By the start. desc: newest first; asc: oldest first.', 'desc'),
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

const cost = orNull(number('US dollars; null when it is not known.'));

const input_data = orNull(
  Type.String({ description: 'Input; the middle of a long one is left out, which it says. Null: none.' }),
);
const output_data = orNull(
  Type.String({ description: 'Output; the middle of a long one is left out, which it says. Null: none.' }),
);

const CompletionRead = Type.Object(
  {
    id: uuid('Id of the span.'),
    trace_id: uuid('Id of its trace.'),
    name: Type.String({ description: 'Name of the span.' }),
    started_at: time('When it started.'),
    has_error: Type.Boolean({ description: 'Whether it has an error.' }),
    duration_ms: orNull(number('Duration in milliseconds; null when it is not known.')),
    cost,
    prompt_version: orNull(
      Type.Integer({ description: 'Version that it was made with; null when it names none of the prompt.' }),
    ),
    input_data,
    output_data,
    input: oldName(input_data, 'input_data'),
    output: oldName(output_data, 'output_data'),
    thumbs_up: count('How many people gave it thumbs up.'),
    thumbs_down: count('How many people gave it thumbs down.'),
    verdicts: Type.Array(
      Type.Object(
        {
          judge_id: uuid('Id of the judge.'),
          judge_name: Type.String({ description: 'Name of the judge, also of a deleted one.' }),
          evaluation_id: uuid('Id of its latest evaluation.'),
          evaluation_result: Type.Boolean({ description: 'Whether the span passed.' }),
          score: orNull(number('Score; null of a binary evaluation.')),
        },
        { description: 'The latest evaluation by a judge.' },
      ),
      { description: 'The latest evaluation by each judge.' },
    ),
  },
  { $id: 'Completion', description: 'A completion of a prompt, with what people and judges said of it.' },
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
      Type.Integer({ description: 'Number of the version; null: completions that name none of the prompt.' }),
    ),
    calls: count('Completions.'),
    errors: count('Completions with an error.'),
    cost: orNull(number('US dollars, of those whose cost is known; null when none is.')),
    duration_ms: Type.Object(
      {
        p50: orNull(number('Median; null when no duration is known.')),
        p95: orNull(number('95 % of them took at most so long; null when no duration is known.')),
      },
      { description: 'Durations in milliseconds.' },
    ),
    input_tokens: count('Input tokens.'),
    output_tokens: count('Output tokens.'),
    thumbs: Type.Object(
      {
        up: count('Completions that somebody gave thumbs up.'),
        down: count('Completions that somebody gave thumbs down.'),
        ...share('`up` divided by both together;'),
      },
      { description: 'What people said.' },
    ),
    judges: Type.Array(
      Type.Object(
        {
          judge_id: uuid('Id of the judge.'),
          judge_name: Type.String({ description: 'Name of the judge, also of a deleted one.' }),
          evaluated: count('Completions that the judge evaluated.'),
          passed: count('Those that passed in the latest evaluation by the judge.'),
          ...share('`passed` divided by `evaluated`;'),
        },
        { description: 'What one judge found.' },
      ),
      { description: 'What each judge found.' },
    ),
  },
  { description: 'What the completions of one version came to.' },
);

export const VersionStatisticsRead = Type.Object(
  {
    versions: Type.Array(VersionFigures, {
      description: 'By version, the newest first; versions without completions are left out.',
    }),
    looked_up: Type.Object(
      { completions: count('So many completions, the newest.'), of: count('All completions.') },
      { description: 'Of how many completions thumbs and verdicts are; all other figures are of all.' },
    ),
  },
  { $id: 'PromptVersionStatistics', description: 'Figures of the completions of a prompt by version.' },
);
export type VersionStatisticsRead = Static<typeof VersionStatisticsRead>;
