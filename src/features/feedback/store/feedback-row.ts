import type { StoredFeedback } from '../feedback.js';

/** Feedback as SQLite holds it: booleans as 0 and 1, objects as JSON. */
export type FeedbackRow = Omit<StoredFeedback, 'thumbs_up' | 'metadata' | 'criteria_feedback'> & {
  readonly thumbs_up: 0 | 1;
  readonly metadata: string;
  readonly criteria_feedback: string | null;
};
