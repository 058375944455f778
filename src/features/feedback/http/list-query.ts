import { Type, type Static, type TObject } from '@sinclair/typebox';
import type { Issue } from '../../../engine/errors.js';
import type { FeedbackQuery } from '../feedback-lists.js';
import type { FeedbackFilter } from '../feedback-pages.js';
import { VersionNumber } from '../../prompts/schema.js';
import { oneOf, uuid } from '../../../engine/schema/parts.js';
import { page } from '../../../http/page.js';
import { exportFormat } from '../../../http/parameters.js';
import { queryOf } from '../../../http/query.js';
import { checkTimeRange, timeRange } from '../../../http/time-range.js';

/** Longest page of feedback with its completions, which may be large. */
export const MAX_WITH_COMPLETIONS = 100;

const ofLink = {
  ...page({ maxLimit: 500, defaultLimit: 100 }),
  ...timeRange('feedback first given'),
  version: Type.Optional(
    Type.Integer({
      ...VersionNumber,
      description:
        'Only feedback on completions of the version with this number, which their spans name by its id. The other ' +
        'filters may match at most 100,000 records.',
    }),
  ),
  thumbs_up: Type.Optional(Type.Boolean({ description: 'true: only thumbs up; false: only thumbs down.' })),
  reviewer: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 1000,
      description: 'Only feedback from this person, as named in `created_by.name`.',
    }),
  ),
  include: Type.Optional(
    oneOf(
      ['completion'],
      `completion: each item includes its completion; \`limit\` may then be at most ${MAX_WITH_COMPLETIONS}.`,
    ),
  ),
  sort_order: oneOf(['asc', 'desc'], 'desc: newest first; asc: oldest first, by when it was first given.', 'desc'),
};

const ofPrompt = {
  ...ofLink,
  source_type: Type.Optional(
    oneOf(['human', 'judge'], "human: only feedback on completions; judge: only feedback on judges' evaluations."),
  ),
  judge_id: Type.Optional(uuid('Only feedback on the evaluations of this judge.')),
  link_id: Type.Optional(uuid('Only feedback from this feedback link.')),
};

type Values = Partial<Static<TObject<typeof ofPrompt>>>;

const {
  limit: _limit,
  offset: _offset,
  version: _version,
  include: _include,
  sort_order: _order,
  ...selection
} = ofPrompt;

function check({ start_date, end_date, limit, include, source_type, judge_id }: Values): Issue[] {
  return [
    ...checkTimeRange({ start_date, end_date }),
    ...(include === 'completion' && limit !== undefined && limit > MAX_WITH_COMPLETIONS
      ? [{ pointer: '?limit', detail: `must be at most ${MAX_WITH_COMPLETIONS} with include=completion` }]
      : []),
    ...(source_type === 'human' && judge_id !== undefined
      ? [{ pointer: '?judge_id', detail: 'must not be given with source_type=human' }]
      : []),
  ];
}

function filterOf(values: Values): FeedbackFilter {
  return {
    start: values.start_date ?? null,
    end: values.end_date ?? null,
    thumbsUp: values.thumbs_up ?? null,
    source: values.source_type ?? null,
    judgeId: values.judge_id ?? null,
    reviewer: values.reviewer ?? null,
    linkId: values.link_id ?? null,
  };
}

function to(values: Static<TObject<typeof ofLink>> & Values): FeedbackQuery {
  return {
    filter: filterOf(values),
    version: values.version ?? null,
    window: { limit: values.limit, offset: values.offset },
    descending: values.sort_order === 'desc',
    withCompletions: values.include === 'completion',
  };
}

/** What a list of the feedback on a prompt is asked for. */
export const promptFeedbackQuery = queryOf(Type.Object(ofPrompt), { check, to });
/** What a list of the feedback by a link is asked for: the same, except for what the link says. */
export const linkFeedbackQuery = queryOf(Type.Object(ofLink), { check, to });

/** Which feedback of a project an export has. */
export interface SelectedFeedback {
  readonly promptId: string | null;
  readonly filter: FeedbackFilter;
}

/** Which feedback is meant: filters of a list of the feedback on a prompt, or on any. */
export const selectedFeedback = queryOf(
  Type.Object({ ...selection, prompt_id: Type.Optional(uuid('Only feedback that counts for this prompt.')) }),
  {
    check,
    to: ({ prompt_id, ...values }): SelectedFeedback => ({ promptId: prompt_id ?? null, filter: filterOf(values) }),
  },
);

/** What an export of feedback is asked for: filters of a list of the feedback on a prompt, or on any. */
export const exportQuery = queryOf(
  Type.Object({
    ...selection,
    prompt_id: Type.Optional(uuid('Only feedback that counts for this prompt.')),
    format: exportFormat,
  }),
  {
    check,
    to: ({ format, prompt_id, ...values }) => ({
      query: { promptId: prompt_id ?? null, filter: filterOf(values) },
      format,
    }),
  },
);
