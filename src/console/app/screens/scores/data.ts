import type { Scored } from '../../../../engine/traces/model/score/score.js';
import type { ScoreRead } from '../../../../features/scores/schema.js';
import { LISTS } from '../../../model/list-query.js';
import { newestByName, type Newest } from '../../../model/scores.js';
import { call, callPage, type ListPage } from '../../state/api.js';
import { place } from '../../state/location.js';
import { changedAt, queries, useQuery } from '../../state/query.js';

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
  });
}

/**
 * The newest score of each name, in all that is in a trace or session: among those that are known, or asked for where there are
 * more.
 */
export function useNewestScores({ type, id }: Target, known: ListPage<ScoreRead> | undefined): Newest {
  const query = { id, fields: 'scores', limit: 1 };
  const isWhole = known === undefined || (known.total ?? 0) <= known.rows.length;
  const answer = useQuery({
    key: ['/scores', 'newest', type, query, known?.total],
    ask: (signal) => call(`GET /${type}s`, { query, signal }),
    enabled: !isWhole,
  });
  return isWhole ? newestByName(known?.rows ?? []) : Object.entries(answer.data?.[0]?.scores ?? {});
}

/** Has everything asked again that shows scores; lists, when they are shown again. */
export async function scoresChanged(): Promise<void> {
  for (const { name } of Object.values(LISTS))
    for (const path of [`/${name}`, `/${name}:stats`])
      void queries.invalidateQueries({ queryKey: [place.value.project, path], refetchType: 'none' });
  await changedAt('/scores');
}
