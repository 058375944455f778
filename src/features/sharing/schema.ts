import { Type, type Static } from '@sinclair/typebox';
import { optional } from '../../engine/schema/inputs.js';
import { count, oneOf, orNull, time, uuid } from '../../engine/schema/parts.js';
import { DEFAULT_SHARE_DAYS, MAX_SHARE_DAYS, PARTS_OF_TRACES, TRACE_PARTS } from './share-link.js';

const EXPLAINED = TRACE_PARTS.map((part) => `\`${part}\`: ${PARTS_OF_TRACES[part]}`).join('; ');
const left_out = Type.Array(oneOf(TRACE_PARTS, EXPLAINED), {
  maxItems: TRACE_PARTS.length,
  description: `What readers do not see. ${EXPLAINED}.`,
});

export const ShareLinkInput = Type.Object(
  {
    expires_in_days: optional(
      Type.Integer({
        minimum: 1,
        maximum: MAX_SHARE_DAYS,
        default: DEFAULT_SHARE_DAYS,
        description: `Days after which the link expires; ${DEFAULT_SHARE_DAYS} if absent.`,
      }),
    ),
    left_out: optional({ ...left_out, description: `${left_out.description ?? ''} Default: nothing is left out.` }),
  },
  { $id: 'ShareLinkInput', description: 'A share link to create.' },
);
export type ShareLinkInput = Static<typeof ShareLinkInput>;

export const ShareLinkRead = Type.Object(
  {
    id: uuid('Id of the link.'),
    trace_id: uuid('The trace that it shows.'),
    left_out,
    created_at: time('When it was created.'),
    created_by: Type.Object(
      { id: uuid('Id of the user.'), name: Type.String({ description: 'Name of the user.' }) },
      { description: 'Who created it.' },
    ),
    expires_at: time('When it expires.'),
    revoked_at: orNull(time('When it was revoked; null if it was not.')),
    last_used_at: orNull(time('When somebody last opened the trace by it; null: never.')),
    uses: count('How often the trace was opened by it.'),
  },
  { $id: 'ShareLink', description: 'A link by which people without an account read one trace.' },
);
export type ShareLinkRead = Static<typeof ShareLinkRead>;

export const CreatedShareLinkRead = Type.Object(
  {
    ...ShareLinkRead.properties,
    url: Type.String({
      description: 'The URL to share. Only this response contains it: the server stores a hash of its token.',
    }),
    note: orNull(Type.String({ description: 'Why the URL may not work for others; null if no problem is known.' })),
  },
  { $id: 'CreatedShareLink', description: 'A new share link, with its URL.' },
);
export type CreatedShareLinkRead = Static<typeof CreatedShareLinkRead>;

const allowed = Type.Boolean({
  description: 'Whether share links of the project work, and can be created. Switching it off revokes none of them.',
});

export const SharingInput = Type.Object(
  { allowed },
  { $id: 'SharingInput', description: 'Whether traces of a project are to be shared by links.' },
);

export const SharingRead = Type.Object(
  { allowed },
  { $id: 'Sharing', description: 'Whether traces of a project can be shared by links.' },
);
