import type { FeedbackInput } from '../../../../features/feedback/schema.js';
import type { JudgeRead } from '../../../../features/judges/schema.js';
import type { CalibrationRead } from '../../../../features/calibration/schema.js';
import { afterCorrection } from '../../../model/judge-versions.js';
import { call, callPage, ofProject, type QueryOf } from '../../state/api.js';
import { place } from '../../state/location.js';
import { changedAt, queries, useQuery } from '../../state/query.js';

/** Since when figures of lists are. */
export const RECENT = '7d';
/** Rows on one page. */
export const PAGE = 50;

const CALIBRATION = 'GET /projects/:project_id/judges/:judge_id/calibration';
const RUNS = 'GET /projects/:project_id/judges/:judge_id/runs';

/** A path below a judge. */
export function ofJudge(id: string, path = ''): string {
  return ofProject(`/judges/${id}${path}`);
}

export function offsetShown(): number {
  return Math.max(0, Math.trunc(Number(place.value.query.get('offset') ?? 0)) || 0);
}

/** A page of judges with what became of them lately, asked for again every ten seconds. */
export function useListedJudges(offset: number, limit: number) {
  const query = { include: 'figures', figures_since: RECENT, count: true, offset, limit };
  return useQuery({
    key: ['/judges', 'list', query],
    ask: (signal) => callPage('GET /projects/:project_id/judges', { query, signal }),
    every: 10_000,
  });
}

export function useJudge(id: string) {
  return useQuery({
    key: ['/judges', id, 'settings'],
    ask: (signal) => call('GET /projects/:project_id/judges/:judge_id', { params: { judge_id: id }, signal }),
    keep: false,
  });
}

/** Figures of judges. */
export function useFigures(query: QueryOf<'GET /projects/:project_id/judges:stats'>) {
  return useQuery({
    key: ['/judges', 'figures', query],
    ask: (signal) => call('GET /projects/:project_id/judges:stats', { query, signal }),
  });
}

export function useCalibration(id: string) {
  return useQuery({
    key: ['/judges', id, 'calibration'],
    ask: (signal) => call(CALIBRATION, { params: { judge_id: id }, signal }),
  });
}

/** Runs that wait, are in progress or failed; asked again every two seconds while something waits. */
export function useRuns(id: string, query: QueryOf<typeof RUNS>, every: number | false) {
  return useQuery({
    key: ['/judges', id, 'runs', query],
    ask: (signal) => call(RUNS, { params: { judge_id: id }, query, signal }),
    every,
  });
}

interface Correction {
  readonly judge: JudgeRead;
  readonly spanId: string;
  readonly body: FeedbackInput;
  /** The version that made what is corrected; undefined: it is not known here. */
  readonly exact?: string | null | undefined;
}

/** Sends what a person says of a judge's verdict. @returns what has changed by it, in words */
export async function storeCorrection({ judge, spanId, body, exact }: Correction): Promise<string> {
  const before = queries.getQueryData<CalibrationRead>([place.value.project, '/judges', judge.id, 'calibration']);
  const params = { prompt_slug: judge.task_slug, completion_id: spanId };
  await call('POST /v1/prompts/:prompt_slug/completions/:completion_id/feedback', { params, body });
  const after = await call(CALIBRATION, { params: { judge_id: judge.id } });
  void changedAt('/judges');
  return afterCorrection(before, after, exact);
}
