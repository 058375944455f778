import type { Optimization, OptimizationHead } from '../optimization.js';
import { toJobRead } from '../../../http/job-presenters.js';
import type { OptimizationRead, OptimizationSummaryRead } from './schema.js';

export function toSummaryRead(optimization: OptimizationHead): OptimizationSummaryRead {
  const { about, compared_by } = optimization;
  return {
    ...toJobRead(optimization),
    ...about,
    base_version_reason: about.base_version_reason ?? null,
    compared_by,
  };
}

export function toOptimizationRead(optimization: Optimization): OptimizationRead {
  const { result, compared_by } = optimization;
  const summary = toSummaryRead(optimization);
  if (result === null) return { ...summary, result: null };
  const { id: _id, rationale: _rationale, ...current } = result.current;
  return {
    ...summary,
    result: {
      compared_by,
      ...result,
      current: { ...current, results: current.results.map(triedRead) },
      candidates: result.candidates.map((candidate) => ({ ...candidate, results: candidate.results.map(triedRead) })),
    },
  };
}

type Tried = NonNullable<Optimization['result']>['current']['results'][number];

function triedRead(tried: Tried) {
  return { ...tried, evaluation_result: tried.passed };
}
