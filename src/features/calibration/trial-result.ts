import { sumOf, type Spent, type Trial, type TrialVerdict } from '../trials/model-trials.js';
import { scoreError } from './opinion.js';
import { mean, wilson, type Interval } from '../../engine/statistics/intervals.js';
import { cohensKappa } from './statistics.js';
import type { SpanTruth } from './truths.js';

/** Evaluations of one span by a judge without and with examples of other spans. */
export interface SpanTrial {
  readonly truth: SpanTruth;
  readonly before: Trial<TrialVerdict>;
  readonly after: Trial<TrialVerdict>;
}

export interface Arm {
  readonly count: number;
  readonly agreed: number;
  readonly rate: number | null;
  readonly rate_interval: Interval | null;
  readonly kappa: number | null;
  readonly kappa_interval: Interval | null;
  readonly scores_compared: number;
  readonly mean_absolute_score_error: number | null;
  readonly spent: Spent;
}

export interface SpanChange {
  readonly span_id: string;
  readonly human: { readonly passed: boolean; readonly score: number | null };
  readonly before: TrialVerdict | null;
  readonly after: TrialVerdict | null;
  readonly change: 'improved' | 'worsened' | 'same' | null;
  readonly failure: string | null;
}

/** Result of a trial of a judge's corrections. Only spans that were evaluated both times are compared. */
export interface TrialResult {
  readonly compared: number;
  readonly failed: number;
  /** Held-out spans that are not stored anymore. */
  readonly missing: number;
  readonly before: Arm;
  readonly after: Arm;
  readonly improved: number;
  readonly worsened: number;
  /** Difference of the agreement rates of the same spans: after less before. */
  readonly difference: number | null;
  readonly difference_interval: Interval | null;
  readonly spans: readonly SpanChange[];
}

export function trialResultOf(trials: readonly SpanTrial[], missing: number): TrialResult {
  const complete = trials.flatMap(({ truth, before, after }) =>
    before.outcome === null || after.outcome === null ? [] : [{ truth, before: before.outcome, after: after.outcome }],
  );
  const isRight = (truth: SpanTruth, verdict: TrialVerdict) => verdict.evaluation_result === truth.passed;
  const differences = complete.map(
    ({ truth, before, after }) => Number(isRight(truth, after)) - Number(isRight(truth, before)),
  );
  const difference = mean(differences);
  return {
    compared: complete.length,
    failed: trials.length - complete.length,
    missing,
    before: armOf(
      complete.map(({ truth, before }) => ({ truth, verdict: before })),
      sumOf(trials.map(({ before }) => before.spent)),
    ),
    after: armOf(
      complete.map(({ truth, after }) => ({ truth, verdict: after })),
      sumOf(trials.map(({ after }) => after.spent)),
    ),
    improved: differences.filter((each) => each > 0).length,
    worsened: differences.filter((each) => each < 0).length,
    difference: difference.value,
    difference_interval: difference.interval,
    spans: trials.map(changeOf),
  };
}

function changeOf({ truth, before, after }: SpanTrial): SpanChange {
  const right = (trial: Trial<TrialVerdict>) =>
    trial.outcome === null ? null : Number(trial.outcome.evaluation_result === truth.passed);
  const [was, is] = [right(before), right(after)];
  return {
    span_id: truth.span_id,
    human: { passed: truth.passed, score: truth.score },
    before: before.outcome,
    after: after.outcome,
    change: was === null || is === null ? null : is > was ? 'improved' : is < was ? 'worsened' : 'same',
    failure: before.failure ?? after.failure,
  };
}

function armOf(found: readonly { readonly truth: SpanTruth; readonly verdict: TrialVerdict }[], spent: Spent): Arm {
  const count = found.length;
  const cell = (judged: boolean, passed: boolean) =>
    found.filter(({ truth, verdict }) => verdict.evaluation_result === judged && truth.passed === passed).length;
  const agreed = cell(true, true) + cell(false, false);
  const kappa = cohensKappa([
    [cell(true, true), cell(true, false)],
    [cell(false, true), cell(false, false)],
  ]);
  const errors = found.flatMap(({ truth, verdict }) => scoreError(truth, verdict.score) ?? []);
  return {
    count,
    agreed,
    rate: count === 0 ? null : agreed / count,
    rate_interval: wilson(agreed, count),
    kappa: kappa?.value ?? null,
    kappa_interval: kappa?.interval ?? null,
    scores_compared: errors.length,
    mean_absolute_score_error: mean(errors).value,
    spent,
  };
}
