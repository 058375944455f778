import type { Scored } from '../../../../engine/traces/model/score/score.js';
import { call, callPage } from '../../state/api.js';
import { changedAt, useQuery } from '../../state/query.js';

/** What can be scored. */
export interface Target {
  readonly type: Scored;
  readonly id: string;
}

/** What a page says of scores is about the thing alone, or about all that is in it. */
function scoresOf({ type, id }: Target) {
  if (type === 'trace') return { trace_id: id };
  return type === 'session' ? { session_id: id } : { entity_type: type, entity_id: id };
}

interface Asked {
  /** How many of the newest are answered. */
  readonly limit: number;
  /** Milliseconds after which it is asked again. */
  readonly every?: number | false;
}

/** Scores of a span, of a trace and its spans, or of a session and its traces, the newest first. */
export function useScores(of: Target, { limit, every = false }: Asked) {
  const query = { ...scoresOf(of), limit, count: true };
  return useQuery({
    key: ['/scores', query],
    ask: (signal) => callPage('GET /scores', { query, signal }),
    every,
  });
}

/** What judges and people say of a span, or of those of a trace or session, the newest first. */
export function useFeedback({ type, id }: Target, { limit, every = false }: Asked) {
  return useQuery({
    key: ['/feedback', type, id, limit],
    ask: (signal) =>
      call('GET /projects/:project_id/feedback/:entity_type/:entity_id', {
        params: { entity_type: type, entity_id: id },
        query: { limit },
        signal,
      }),
    every,
    keep: false,
  });
}

/** Has everything asked again that shows scores. */
export async function scoresChanged(): Promise<void> {
  await Promise.all(['/scores', '/spans', '/traces', '/sessions'].map((path) => changedAt(path)));
}
