import { Type, type Static } from '@sinclair/typebox';
import { LinkType } from '../schema.js';
import { count, orNull, time, uuid } from '../../../engine/schema/parts.js';

export const LinkRead = Type.Object(
  {
    id: uuid('Id of the link.'),
    url: Type.Union([Type.String({ description: 'URL.' }), Type.Null()], {
      description:
        'The URL to share. It is returned only when the link is created, and null afterwards: the server stores only ' +
        'a hash of its token.',
    }),
    prompt_slug: orNull(
      Type.String({ description: 'Slug of the prompt whose completions are reviewed; null: spans are.' }),
    ),
    span_ids: orNull(
      Type.Array(uuid('Id of a span.'), {
        description: 'The spans that are reviewed; null: completions of the prompt are.',
      }),
    ),
    link_type: LinkType,
    created_at: time('When the link was created.'),
    expires_at: time('When the link expires.'),
    revoked_at: Type.Union([time('A time.'), Type.Null()], {
      description: 'When the link was revoked; null if it was not.',
    }),
  },
  {
    $id: 'FeedbackLink',
    description: 'A link that lets people without an account review completions of a prompt, or some spans.',
  },
);
export type LinkRead = Static<typeof LinkRead>;

export const ListedLinkRead = Type.Object(
  {
    ...LinkRead.properties,
    created_by: Type.Object(
      { id: uuid('Id of the user.'), name: Type.String({ description: 'Name of the user.' }) },
      { description: 'User who created the link.' },
    ),
    reviewer_count: count(
      'Number of reviewers who gave a name. To list their feedback, list the feedback of the link.',
    ),
  },
  { $id: 'ListedFeedbackLink', description: 'A link, its creator, and its number of reviewers.' },
);
export type ListedLinkRead = Static<typeof ListedLinkRead>;

export const CreatedLinkRead = Type.Object(
  {
    ...LinkRead.properties,
    note: Type.Union([Type.String({ description: 'A sentence.' }), Type.Null()], {
      description: 'Why the URL may not work for others, and what to do about it; null if no problem is known.',
    }),
  },
  { $id: 'CreatedFeedbackLink', description: 'A new link, with its URL.' },
);
export type CreatedLinkRead = Static<typeof CreatedLinkRead>;
