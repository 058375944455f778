import type { MeasuredResult } from '../../src/engine/traces/model/experiment/results.js';
import type { ErrorWay, PairedRows } from '../../src/features/comparisons/comparison.js';
import { Arm, pair, type MeasuredMetric } from '../../src/features/comparisons/pairing.js';

export const metric = (name: string, more: Partial<MeasuredMetric> = {}): MeasuredMetric => ({
  ...{ name, rule: 'no_regression', margin: null, value: null, direction: 'higher', measure: 'boolean' },
  ...{ min: null, max: null },
  ...more,
});

export const result = (row_id: string, scores: MeasuredResult['scores'], more: Partial<MeasuredResult> = {}) => ({
  ...{ id: '', row_id, repetition: 1, has_error: false, scores },
  ...{ cost: null, duration_ms: null, input_tokens: null, output_tokens: null },
  ...more,
});

export interface PairedOptions {
  readonly errors?: ErrorWay;
  readonly confidence?: number;
  readonly slicings?: PairedRows['slicings'];
  readonly seed?: string;
}

/** Pairs what two arms have of all their rows. */
export function paired(
  metrics: readonly MeasuredMetric[],
  candidate: readonly MeasuredResult[],
  baseline: readonly MeasuredResult[],
  { errors = 'count_as_fail', confidence = 0.95, slicings = [], seed = 'seed' }: PairedOptions = {},
): PairedRows {
  const ids = [...new Set([...candidate, ...baseline].map(({ row_id }) => row_id))];
  const places = new Map(ids.map((id, place) => [id, place]));
  const options = { errors, categories: metrics.map(() => new Map<string, number>()) };
  const armOf = (results: readonly MeasuredResult[]) => {
    const arm = new Arm(places, metrics, options);
    arm.add(results);
    arm.end();
    return arm;
  };
  const arms = { candidate: armOf(candidate), baseline: armOf(baseline) };
  const rows = ids.map((_, place) => place).filter((place) => arms.candidate.has(place) && arms.baseline.has(place));
  return { seed, confidence, slicings, metrics: [...pair(Int32Array.from(rows), metrics, arms, options)] };
}

/** Boolean scores by how many rows came out how. */
export function counted(name: string, { both = 0, wins = 0, losses = 0, neither = 0 }) {
  const of = (values: readonly [number, boolean][]) =>
    values
      .flatMap(([count, value]) => Array<boolean>(count).fill(value))
      .map((value, index) => result(`row ${index}`, { [name]: value }));
  return {
    candidate: of([[both, true], [wins, true], [losses, false], [neither, false]]), // prettier-ignore
    baseline: of([[both, true], [wins, false], [losses, true], [neither, false]]), // prettier-ignore
  };
}
