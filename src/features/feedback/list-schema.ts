import { Type, type Static } from '@sinclair/typebox';
import { pageRead } from '../../engine/schema/page.js';
import { orNull, time, uuid } from '../../engine/schema/parts.js';
import { FeedbackRead } from './schema.js';
import { AuthorRead } from './unified-schema.js';
import { MAX_LISTED_TEXT } from '../../engine/traces/model/prompts/completion-store.js';

const text = (what: string) =>
  orNull(
    Type.String({
      description: `${what}; null if there is none. Texts longer than ${MAX_LISTED_TEXT} characters are shortened in the middle, with a note.`,
    }),
  );

export const CompletionRead = Type.Object(
  {
    name: Type.String({ description: 'Name of the span.' }),
    trace_id: uuid('Trace of the span.'),
    started_at: time('When the span started.'),
    input_data: text('Input'),
    output_data: text('Output'),
  },
  { description: 'A completion that feedback is about.' },
);

/** Feedback with its author. */
export const AuthoredFeedbackRead = Type.Object({
  ...FeedbackRead.properties,
  created_by: AuthorRead,
  link_id: orNull(uuid('Feedback link through which a reviewer gave it; null: it came through the API.')),
});
export type AuthoredFeedbackRead = Static<typeof AuthoredFeedbackRead>;

export const ListedFeedbackRead = Type.Object(
  {
    ...AuthoredFeedbackRead.properties,
    prompt_version: orNull(
      Type.Integer({
        description:
          "Number of the prompt version that the completion's span names, by id or by number; null if it names none, or " +
          'is not stored.',
      }),
    ),
    completion: Type.Optional(
      Type.Union([CompletionRead, Type.Null()], {
        description: 'The completion, only with `include=completion`; null if its span is not stored.',
      }),
    ),
  },
  { $id: 'ListedFeedback', description: 'Feedback with its author and its completion.' },
);
export type ListedFeedbackRead = Static<typeof ListedFeedbackRead>;

export const FeedbackPageRead = Type.Object(
  {
    feedback: Type.Array(ListedFeedbackRead, { description: 'The feedback of this page.' }),
    ...pageRead,
  },
  { $id: 'FeedbackPage', description: 'A page of feedback.' },
);
