import { Type, type Static } from '@sinclair/typebox';
import { MAX_REASON } from '../feedback/schema.js';
import { optional } from '../../engine/schema/inputs.js';
import { Slug } from '../prompts/schema.js';
import { oneOf, uuid } from '../../engine/schema/parts.js';
import { LINK_TYPES } from './feedback-link.js';

export const MAX_NAME = 100;
const DEFAULT_DAYS = 30;
const MAX_DAYS = 365;

/** Most spans of a link: as many as a reviewer is asked about. */
export const MAX_LINK_SPANS = 20;

export const LinkType = oneOf(
  LINK_TYPES,
  '`prompt_completion`: recent completions of the prompt are reviewed; `span`: the spans of `span_ids`.',
);

/** How long a link works; `more` says from when on, and what holds without it. */
const days = (more: string, options: { readonly default?: number } = {}) =>
  Type.Integer({
    minimum: 1,
    maximum: MAX_DAYS,
    ...options,
    description: `Days after which the link expires${more}`,
  });

export const LinkInput = Type.Object(
  {
    prompt_slug: optional(
      Type.String({ ...Slug, description: 'Slug of the prompt whose completions are reviewed; or else `span_ids`.' }),
    ),
    span_ids: optional(
      Type.Array(uuid('Id of a span.'), {
        minItems: 1,
        maxItems: MAX_LINK_SPANS,
        description: 'Stored spans to review, whether they name a prompt or not, in this order; or else `prompt_slug`.',
      }),
    ),
    link_type: optional(LinkType),
    expires_in_days: optional(days(`; ${DEFAULT_DAYS} if absent.`, { default: DEFAULT_DAYS })),
  },
  { $id: 'FeedbackLinkInput', description: 'A feedback link to create.' },
);
export type LinkInput = Static<typeof LinkInput>;

export const LinkPatch = Type.Object(
  { expires_in_days: days(', counted from now.') },
  { $id: 'FeedbackLinkPatch', description: 'Changes to a feedback link.' },
);
export type LinkPatch = Static<typeof LinkPatch>;

/** Longest texts that reviewers may send, in characters: whoever has a link can, so less than users may. */
export function reviewTextLimits(maxCharacters: number) {
  return { reason: Math.min(maxCharacters, MAX_REASON), expected_output: maxCharacters, reviewer_name: MAX_NAME };
}
export type ReviewTextLimits = ReturnType<typeof reviewTextLimits>;

/** The schema of {@link ReviewInput}. */
export function reviewInputSchema(limits: ReviewTextLimits) {
  return Type.Object(
    {
      completion_id: uuid('Id of the completion (a span), which must belong to the prompt.'),
      thumbs_up: Type.Boolean({ description: 'true: good; false: bad.' }),
      reason: optional(Type.String({ maxLength: limits.reason, description: 'Reason for the thumb up or down.' })),
      expected_output: optional(
        Type.String({ maxLength: limits.expected_output, description: 'The expected output.' }),
      ),
      reviewer_name: optional(
        Type.String({
          maxLength: limits.reviewer_name,
          description: 'Name of the reviewer; absent: the name given earlier in this browser.',
        }),
      ),
    },
    { $id: 'Review', description: "A reviewer's feedback on a completion." },
  );
}
export type ReviewInput = Static<ReturnType<typeof reviewInputSchema>>;

export const defaultDays = DEFAULT_DAYS;
