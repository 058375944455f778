import { mean, wilson, type Interval } from '../../engine/statistics/intervals.js';
import type { EvaluationType } from '../judges/judge.js';
import { sumOf, type Spent, type TrialVerdict } from '../trials/model-trials.js';
import type { TrainingExample } from './training-examples.js';

/** One completion made again with one prompt. */
export interface ExampleTrial {
  readonly example: TrainingExample;
  readonly output: string | null;
  readonly verdict: TrialVerdict | null;
  readonly failure: string | null;
  readonly spent: readonly Spent[];
}

/** One prompt and its trials. */
export interface ArmTrials {
  readonly id: string;
  readonly content: string;
  readonly rationale: string;
  readonly trials: ExampleTrial[];
}

export interface ArmResult {
  readonly id: string;
  readonly content: string;
  readonly rationale: string;
  readonly count: number;
  readonly failed: number;
  readonly passed: number;
  readonly pass_rate: number | null;
  readonly pass_rate_interval: Interval | null;
  readonly mean_score: number | null;
  readonly mean_score_interval: Interval | null;
  readonly spent: Spent;
  readonly results: readonly {
    readonly span_id: string;
    readonly expected_output: string | null;
    readonly output: string | null;
    readonly passed: boolean | null;
    readonly score: number | null;
    readonly reason: string | null;
    readonly failure: string | null;
  }[];
}

/** A candidate against the current version, on the completions that both were judged on. */
export interface CandidateResult extends ArmResult {
  readonly compared: number;
  readonly difference: number | null;
  readonly difference_interval: Interval | null;
  readonly wins: number;
  readonly losses: number;
  readonly ties: number;
}

export interface OptimizationResult {
  /** Figure that `difference` compares. */
  readonly metric: 'score' | 'pass_rate';
  readonly current: ArmResult;
  /** Candidates, the best first. */
  readonly candidates: readonly CandidateResult[];
  /** Why there are fewer candidates than were asked for. */
  readonly problem: string | null;
  readonly missing: number;
  readonly spent: Spent;
}

export function optimizationResultOf(
  arms: readonly ArmTrials[],
  type: EvaluationType,
  about: { readonly missing: number; readonly problem: string | null; readonly proposing: readonly Spent[] },
): OptimizationResult {
  const [current, ...others] = arms;
  if (current === undefined) throw new Error('There is no current version to compare with');
  const metric = type === 'scored' ? 'score' : 'pass_rate';
  const candidates = others.map((arm) => compare(arm, current, metric));
  const rank = ({ difference }: CandidateResult) => difference ?? -Infinity;
  candidates.sort((a, b) => rank(b) - rank(a) || (b.pass_rate ?? 0) - (a.pass_rate ?? 0));
  return {
    metric,
    current: armResult(current),
    candidates,
    problem: about.problem,
    missing: about.missing,
    spent: sumOf([...about.proposing, ...arms.flatMap(({ trials }) => trials.flatMap(({ spent }) => spent))]),
  };
}

function compare(arm: ArmTrials, current: ArmTrials, metric: OptimizationResult['metric']): CandidateResult {
  const was = new Map(current.trials.map((trial) => [trial.example.span_id, valueOf(trial, metric)]));
  const differences = arm.trials.flatMap((trial) => {
    const [before, after] = [was.get(trial.example.span_id) ?? null, valueOf(trial, metric)];
    return before === null || after === null ? [] : [after - before];
  });
  const difference = mean(differences);
  return {
    ...armResult(arm),
    compared: difference.count,
    difference: difference.value,
    difference_interval: difference.interval,
    wins: differences.filter((each) => each > 0).length,
    losses: differences.filter((each) => each < 0).length,
    ties: differences.filter((each) => each === 0).length,
  };
}

function valueOf({ verdict }: ExampleTrial, metric: OptimizationResult['metric']): number | null {
  if (verdict === null) return null;
  return metric === 'score' ? verdict.score : Number(verdict.evaluation_result);
}

function armResult({ id, content, rationale, trials }: ArmTrials): ArmResult {
  const verdicts = trials.flatMap(({ verdict }) => (verdict === null ? [] : [verdict]));
  const passed = verdicts.filter(({ evaluation_result }) => evaluation_result).length;
  const scores = mean(verdicts.flatMap(({ score }) => (score === null ? [] : [score])));
  return {
    id,
    content,
    rationale,
    count: verdicts.length,
    failed: trials.length - verdicts.length,
    passed,
    pass_rate: verdicts.length === 0 ? null : passed / verdicts.length,
    pass_rate_interval: wilson(passed, verdicts.length),
    mean_score: scores.value,
    mean_score_interval: scores.interval,
    spent: sumOf(trials.flatMap(({ spent }) => spent)),
    results: trials.map(({ example, output, verdict, failure }) => ({
      span_id: example.span_id,
      expected_output: example.expected_output,
      output,
      passed: verdict?.evaluation_result ?? null,
      score: verdict?.score ?? null,
      reason: verdict?.evaluation_reason ?? null,
      failure,
    })),
  };
}
