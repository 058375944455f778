import { Type } from '@sinclair/typebox';
import { byKey, number, oneOf, orNull, time, uuid } from '../../../engine/schema/parts.js';
import { CriterionRead, MAX_CRITERIA, MAX_EXPECTED_OUTPUT, MAX_REASON } from '../../feedback/schema.js';
import { MAX_COMMENT } from '../../comments/comment.js';
import { CRITERION_KEY } from '../../judges/settings.js';
import { LINK_TYPES } from '../../review/feedback-link.js';
import { MAX_LINK_SPANS } from '../../review/schema.js';
import { json, person, record, revision, text } from './record.js';

export const feedback_links = record(
  'FeedbackLink',
  'A link through which people gave feedback. Its token is unknown, so it does not work: it records whose ' +
    'feedback came through it.',
  {
    id: uuid('Id of the link.'),
    prompt_id: orNull(uuid('The prompt; null: spans are reviewed.')),
    link_type: oneOf(LINK_TYPES, 'What is reviewed.'),
    span_ids: Type.Optional(
      orNull(Type.Array(uuid('A span.'), { minItems: 1, maxItems: MAX_LINK_SPANS, description: 'The spans.' })),
    ),
    created_at: time('When it was created.'),
    created_by: person('Who created it.'),
    expires_at: time('When it expires.'),
    revoked_at: orNull(time('When it was revoked; null if it was not.')),
  },
);

const said = {
  thumbs_up: Type.Boolean({ description: 'true: good, or the judge was right.' }),
  reason: orNull(text(MAX_REASON, 'Why.')),
  expected_output: orNull(text(MAX_EXPECTED_OUTPUT, 'The expected output.')),
  expected_score: orNull(number('Score that the judge should have given.')),
  score_direction: orNull(oneOf(['too_high', 'too_low'], "Direction in which the judge's score is wrong.")),
  criteria_feedback: orNull(
    byKey(
      Type.Object(
        { ...CriterionRead.properties, reason: orNull(text(MAX_REASON, 'Why.')) },
        { description: 'Feedback on one criterion.' },
      ),
      {
        propertyNames: { pattern: CRITERION_KEY, 'x-must': 'have keys of criteria' },
        maxProperties: MAX_CRITERIA,
        description: 'By key of the criterion.',
      },
    ),
  ),
};

export const feedback = record('Feedback', "Feedback of one user on a completion, or on a judge's evaluation of it.", {
  id: uuid('Id of the feedback.'),
  prompt_id: uuid('The prompt.'),
  completion_id: uuid('Id of the span.'),
  judge_id: orNull(uuid('The judge that it is about; null: it is about the completion itself.')),
  ...said,
  metadata: json('Any JSON stored with the feedback.'),
  created_at: time('When it was first given.'),
  updated_at: time('When it was last given.'),
  created_by: person('Who gave it.'),
  feedback_link_id: orNull(uuid('The link through which it came; null: the API.')),
});

const { prompt_id: _prompt, judge_id: _judge, ...ofSpan } = feedback.properties;
export const span_feedback = record('SpanFeedback', 'Feedback of one user on a span that names no prompt.', ofSpan);

export const corrections = record('Correction', 'What a user said about one evaluation, as the judge gets it.', {
  feedback_id: uuid('The feedback that it comes from.'),
  evaluation_id: orNull(uuid('The evaluation; null: the judge had not evaluated the span.')),
  revision: revision("Revision of the judge's set that it created."),
  ...said,
  given_at: time('When it was given.'),
});

export const comments = record('Comment', 'What a user said about a trace, or about a span of it.', {
  id: uuid('Id of the comment.'),
  trace_id: uuid('The trace.'),
  span_id: orNull(uuid('The span; null: it is about the whole trace.')),
  text: Type.String({ minLength: 1, maxLength: MAX_COMMENT, description: 'The comment, in Markdown.' }),
  created_at: time('When it was written.'),
  edited_at: orNull(time('When it was last edited; null: never.')),
  created_by: person('Who wrote it.'),
});
