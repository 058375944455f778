import type { Optimization, OptimizationHead } from '../../../../domain/learning/optimization/optimization.js';
import { toJobRead } from '../job-presenters.js';
import type { OptimizationRead, OptimizationSummaryRead } from './schema.js';

export function toSummaryRead(optimization: OptimizationHead): OptimizationSummaryRead {
  return { ...toJobRead(optimization), ...optimization.about, compared_by: optimization.compared_by };
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
      current: { ...current, results: [...current.results] },
      candidates: result.candidates.map((candidate) => ({ ...candidate, results: [...candidate.results] })),
    },
  };
}
