import { Type, type Static } from '@sinclair/typebox';
import { MAX_REASON } from '../feedback/schema.js';
import { optional } from '../schema/inputs.js';
import { Slug } from '../prompt/schema.js';
import { time, uuid } from '../schema/parts.js';

export const MAX_NAME = 100;
const DEFAULT_DAYS = 30;
const MAX_DAYS = 365;

const linkType = Type.Literal('prompt_completion', { description: 'What is reviewed: completions of the prompt.' });
const slug = 'Slug of the prompt whose completions are reviewed.';

export const LinkInput = Type.Object(
  {
    prompt_slug: Type.String({ ...Slug, description: slug }),
    link_type: optional(linkType),
    expires_in_days: optional(
      Type.Integer({
        minimum: 1,
        maximum: MAX_DAYS,
        default: DEFAULT_DAYS,
        description: `After how many days it stops working; ${DEFAULT_DAYS} when absent.`,
      }),
    ),
  },
  { $id: 'FeedbackLinkInput', description: 'A link to be made.' },
);
export type LinkInput = Static<typeof LinkInput>;

export const LinkRead = Type.Object(
  {
    id: uuid('Id of the link.'),
    url: Type.Union([Type.String({ description: 'URL.' }), Type.Null()], {
      description:
        'The URL to share. It is answered once, when the link is made, and null from then on: only its hash is kept.',
    }),
    prompt_slug: Type.String({ description: slug }),
    link_type: linkType,
    created_at: time('When it was made.'),
    expires_at: time('When it stops working.'),
    revoked_at: Type.Union([time('A time.'), Type.Null()], { description: 'When it was revoked; null: it was not.' }),
  },
  { $id: 'FeedbackLink', description: 'A link that lets people without an account review completions of a prompt.' },
);
export type LinkRead = Static<typeof LinkRead>;

/** Longest texts that reviewers may send, in characters: whoever has a link can, so less than users may. */
export function reviewTextLimits(maxCharacters: number) {
  return { reason: Math.min(maxCharacters, MAX_REASON), expected_output: maxCharacters, reviewer_name: MAX_NAME };
}
export type ReviewTextLimits = ReturnType<typeof reviewTextLimits>;

/** The schema of {@link ReviewInput}. */
export function reviewInputSchema(limits: ReviewTextLimits) {
  return Type.Object(
    {
      completion_id: uuid('Id of the completion, which must be one of the prompt.'),
      thumbs_up: Type.Boolean({ description: 'true: good; false: bad.' }),
      reason: optional(Type.String({ maxLength: limits.reason, description: 'Why.' })),
      expected_output: optional(
        Type.String({ maxLength: limits.expected_output, description: 'What the output should have been.' }),
      ),
      reviewer_name: optional(
        Type.String({
          maxLength: limits.reviewer_name,
          description: 'Name of the reviewer; absent: the one that the browser gave before.',
        }),
      ),
    },
    { $id: 'Review', description: 'What a reviewer says of a completion.' },
  );
}
export type ReviewInput = Static<ReturnType<typeof reviewInputSchema>>;

export const defaultDays = DEFAULT_DAYS;
