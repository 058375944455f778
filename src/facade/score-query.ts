import type { ScoreQuery } from '../engine/traces/model/score/scores.js';

/** The newest score of a project: what a query asks for where nothing is asked. */
export const ANY_SCORES: ScoreQuery = {
  ...{ entityType: null, entityIds: null, traceId: null, sessionId: null, names: null, sources: null, authors: null },
  ...{ texts: null, min: null, max: null, createdAfter: null, createdBefore: null },
  ...{ sort: 'created_at', descending: true, limit: 1, offset: 0, count: false },
};
