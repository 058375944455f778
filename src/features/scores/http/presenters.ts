import { formatTimestamp } from '../../../engine/timestamp.js';
import type { StoredScore } from '../../../engine/traces/model/score/scores.js';

/** How the documentation groups the routes of scores. */
export const TAG = 'Scores';

export const toScoreRead = ({ author, created_at, ...score }: StoredScore) => ({
  ...score,
  author: author === '' ? null : author,
  created_at: formatTimestamp(created_at),
});
