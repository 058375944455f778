import { Type, type Static } from '@sinclair/typebox';
import { pageRead } from '../schema/page.js';
import { orNull, time, uuid } from '../schema/parts.js';
import { FeedbackRead } from './schema.js';
import { AuthorRead } from './unified-schema.js';

/** Longest input or output in a list of feedback, in characters; the middle of a longer one is left out. */
export const MAX_LISTED_TEXT = 1_000_000;

const text = (what: string) =>
  orNull(
    Type.String({
      description: `${what}; null when there is none. Of more than ${MAX_LISTED_TEXT} characters the middle is left out, which the text says.`,
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

export const ListedFeedbackRead = Type.Object(
  {
    ...FeedbackRead.properties,
    created_by: AuthorRead,
    link_id: orNull(uuid('Feedback link by which a reviewer gave it; null: it came through the API.')),
    prompt_version: orNull(
      Type.Integer({
        description:
          'Number of the version of the prompt that the span of the completion names, by id or by number; null when it names none, or is not there.',
      }),
    ),
    completion: Type.Optional(
      Type.Union([CompletionRead, Type.Null()], {
        description: 'The completion, with `include=completion` only; null when its span is not there.',
      }),
    ),
  },
  { $id: 'ListedFeedback', description: 'Feedback, who gave it, and the completion that it is about.' },
);
export type ListedFeedbackRead = Static<typeof ListedFeedbackRead>;

export const FeedbackPageRead = Type.Object(
  {
    feedback: Type.Array(ListedFeedbackRead, { description: 'The feedback of this page.' }),
    ...pageRead,
  },
  { $id: 'FeedbackPage', description: 'A page of feedback.' },
);
