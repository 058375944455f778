import type { JudgeFiguresRead, ListedJudgeRead } from '../../../../../domain/judge-figures/schema.js';
import type { RunPageRead } from '../../../../../domain/judge/run-schema.js';
import type { EvaluationPageRead, JudgeRead } from '../../../../../domain/judge/schema.js';
import type { CalibrationRead } from '../../../../../domain/learning/calibration/schema.js';
import { afterCorrection } from '../../../model/judge-versions.js';
import { call, callPage, ofProject, type ListPage, type Parameters } from '../../state/api.js';
import { place } from '../../state/location.js';
import { changedAt, queries, useQuery, type Answer } from '../../state/query.js';

/** Most judges, evaluations or runs that one call answers. */
export const MOST = 500;
/** Since when figures of lists are. */
export const LATELY = '7d';
/** Rows on one page. */
export const PAGE = 50;

/** A path below a judge. */
export function ofJudge(id: string, path = ''): string {
  return ofProject(`/judges/${id}${path}`);
}

/** Has everything asked again that is known of judges, or of one. */
export function judgesChanged(id?: string): Promise<void> {
  return id === undefined ? changedAt('/judges') : changedAt('/judges', id);
}

export function offsetShown(): number {
  return Math.max(0, Math.trunc(Number(place.value.query.get('offset') ?? 0)) || 0);
}

export function useJudges(window: { readonly offset: number; readonly limit: number }): Answer<JudgeRead[]> {
  return useQuery({
    key: ['/judges', 'list', window],
    ask: (signal) => call<JudgeRead[]>(ofProject('/judges'), { query: window, signal }),
  });
}

/** A page of judges with what became of them lately, asked for again every ten seconds. */
export function useListedJudges(offset: number, limit: number): Answer<ListPage<ListedJudgeRead>> {
  const query = { include: 'figures', figures_since: LATELY, count: true, offset, limit };
  return useQuery({
    key: ['/judges', 'list', query],
    ask: (signal) => callPage<ListedJudgeRead>(ofProject('/judges'), { query, signal }),
    every: 10_000,
  });
}

export function useJudge(id: string): Answer<JudgeRead> {
  return useQuery({
    key: ['/judges', id, 'settings'],
    ask: (signal) => call<JudgeRead>(ofJudge(id), { signal }),
    keep: false,
  });
}

/** Figures of judges. */
export function useFigures(query: Parameters): Answer<JudgeFiguresRead[]> {
  return useQuery({
    key: ['/judges', 'figures', query],
    ask: (signal) => call<JudgeFiguresRead[]>(ofProject('/judges:stats'), { query, signal }),
  });
}

export function useCalibration(id: string): Answer<CalibrationRead> {
  return useQuery({
    key: ['/judges', id, 'calibration'],
    ask: (signal) => call<CalibrationRead>(ofJudge(id, '/calibration'), { signal }),
  });
}

export function useEvaluations(id: string, query: Parameters): Answer<EvaluationPageRead> {
  return useQuery({
    key: ['/judges', id, 'evaluations', query],
    ask: (signal) => call<EvaluationPageRead>(ofJudge(id, '/evaluations'), { query, signal }),
  });
}

/** Runs that wait, are under way or failed; asked again every two seconds while something waits. */
export function useRuns(id: string, query: Parameters, every: number | false): Answer<RunPageRead> {
  return useQuery({
    key: ['/judges', id, 'runs', query],
    ask: (signal) => call<RunPageRead>(ofJudge(id, '/runs'), { query, signal }),
    every,
  });
}

interface Correction {
  readonly judge: JudgeRead;
  readonly spanId: string;
  /** As the API takes it. */
  readonly body: Readonly<Record<string, unknown>>;
  /** The version that made what is corrected; undefined: it is not known here. */
  readonly exact?: string | null | undefined;
}

/** Sends what a person says of a judge's verdict. @returns what has changed by it, in words */
export async function storeCorrection({ judge, spanId, body, exact }: Correction): Promise<string> {
  const before = queries.getQueryData<CalibrationRead>([place.value.project, '/judges', judge.id, 'calibration']);
  const path = `/v1/prompts/${encodeURIComponent(judge.task_slug)}/completions/${spanId}/feedback`;
  await call(path, { method: 'POST', body });
  const after = await call<CalibrationRead>(ofJudge(judge.id, '/calibration'));
  void changedAt('/judges');
  return afterCorrection(before, after, exact);
}
