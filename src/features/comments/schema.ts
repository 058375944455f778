import { Type, type Static } from '@sinclair/typebox';
import { optional } from '../../engine/schema/inputs.js';
import { pageRead } from '../../engine/schema/page.js';
import { orNull, time, uuid } from '../../engine/schema/parts.js';
import { MAX_COMMENT } from './comment.js';

const text = Type.String({ minLength: 1, maxLength: MAX_COMMENT, description: 'The comment, in Markdown.' });

export const CommentInput = Type.Object(
  { text, span_id: optional(uuid('The span of the trace that it is about; absent: the whole trace.')) },
  { $id: 'CommentInput', description: 'A comment to write.' },
);
export type CommentInput = Static<typeof CommentInput>;

export const CommentPatch = Type.Object({ text }, { $id: 'CommentPatch', description: 'What a comment says now.' });
export type CommentPatch = Static<typeof CommentPatch>;

export const CommentRead = Type.Object(
  {
    id: uuid('Id of the comment.'),
    trace_id: uuid('The trace.'),
    span_id: orNull(uuid('The span that it is about; null: the whole trace.')),
    text: Type.String({ description: 'The comment, in Markdown.' }),
    created_at: time('When it was written.'),
    edited_at: orNull(time('When it was last edited; null: never.')),
    created_by: Type.Object(
      { id: uuid('Id of the user.'), name: Type.String({ description: 'Name of the user.' }) },
      { description: 'Who wrote it.' },
    ),
  },
  { $id: 'Comment', description: 'A comment on a trace, or on a span of it.' },
);
export type CommentRead = Static<typeof CommentRead>;

export const CommentPageRead = Type.Object(
  {
    comments: Type.Array(CommentRead, { description: 'Comments, the oldest first.' }),
    ...pageRead,
  },
  { $id: 'CommentPage', description: 'A page of comments.' },
);
