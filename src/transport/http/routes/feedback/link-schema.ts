import { Type, type Static } from '@sinclair/typebox';
import { LinkType } from '../../../../domain/review/schema.js';
import { count, time, uuid } from '../../../../domain/schema/parts.js';

export const LinkRead = Type.Object(
  {
    id: uuid('Id of the link.'),
    url: Type.Union([Type.String({ description: 'URL.' }), Type.Null()], {
      description:
        'The URL to share. It is answered once, when the link is made, and null from then on: only a hash of its token is stored.',
    }),
    prompt_slug: Type.String({ description: 'Slug of the prompt whose completions are reviewed.' }),
    link_type: LinkType,
    created_at: time('When the link was made.'),
    expires_at: time('When the link stops working.'),
    revoked_at: Type.Union([time('A time.'), Type.Null()], {
      description: 'When the link was revoked; null: it was not.',
    }),
  },
  { $id: 'FeedbackLink', description: 'A link that lets people without an account review completions of a prompt.' },
);
export type LinkRead = Static<typeof LinkRead>;

export const ListedLinkRead = Type.Object(
  {
    ...LinkRead.properties,
    created_by: Type.Object(
      { id: uuid('Id of the user.'), name: Type.String({ description: 'Name of the user.' }) },
      { description: 'Who made the link.' },
    ),
    reviewer_count: count('How many reviewers have given a name on it; what they gave is listed by link.'),
  },
  { $id: 'ListedFeedbackLink', description: 'A link, who made it, and how many use it.' },
);
export type ListedLinkRead = Static<typeof ListedLinkRead>;

export const CreatedLinkRead = Type.Object(
  {
    ...LinkRead.properties,
    note: Type.Union([Type.String({ description: 'A sentence.' }), Type.Null()], {
      description:
        'Why the URL may not open for others, and what to do about it; null when nothing is known against it.',
    }),
  },
  { $id: 'CreatedFeedbackLink', description: 'A link that was made now, with its URL.' },
);
export type CreatedLinkRead = Static<typeof CreatedLinkRead>;
