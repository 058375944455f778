import type { Static } from '@sinclair/typebox';
import { joinValues } from '../../../../engine/traces/model/list/comma-values.js';
import type { ResultPage, ResultRead } from '../../../../features/experiments/schema.js';
import { call, type QueryOf } from '../../state/api.js';
import { useQuery, type Answer } from '../../state/query.js';
import { AGAIN, EXPERIMENTS } from './data.js';

export type Result = Static<typeof ResultRead>;
type Results = Exclude<QueryOf<'GET /projects/:project_id/experiments/:experiment_id/results'>, URLSearchParams>;

/** Results with how their rows begin. @param runs whether more are to come */
export function useResults(id: string, query: Results, runs: boolean): Answer<Static<typeof ResultPage>> {
  return useQuery({
    // Asked once more when it has ended: some may have come just before.
    key: [EXPERIMENTS, id, 'results', query, runs],
    ask: (signal) =>
      call('GET /projects/:project_id/experiments/:experiment_id/results', {
        params: { experiment_id: id },
        query: { ...query, rows: true },
        signal,
      }),
    every: runs && AGAIN,
    keptMs: 60_000,
  });
}

/** One result, and the whole of the row that it was made of. */
export function useResult(id: string, row: string, repetition: number) {
  return useQuery({
    key: [EXPERIMENTS, id, 'results', 'one', row, repetition],
    async ask(signal) {
      const { results } = await call('GET /projects/:project_id/experiments/:experiment_id/results', {
        params: { experiment_id: id },
        query: { row_id: joinValues([row]), repetition, limit: 1, rows: true },
        signal,
      });
      const [result] = results;
      if (result === undefined) return null;
      const query = { id: result.id, fields: 'input_data', limit: 1 };
      const [span] = await call('GET /spans', { query, signal });
      return { result, input: span?.input_data ?? null };
    },
    keptMs: 60_000,
  });
}
