import type { Micros } from '../time/timestamp.js';
import type { EvaluationType, ScoreScale } from './judge.js';

/** Score and reason by criterion key. */
export type CriteriaScores = Readonly<Record<string, { readonly score: number; readonly reason: string }>>;

/** What a judge says of a span. */
export interface Verdict {
  /** True: passed. */
  readonly evaluation_result: boolean;
  readonly evaluation_reason: string;
  /** 0 to 1; null when it was not said. */
  readonly confidence_score: number | null;
  /** Of scored judges only. */
  readonly score: number | null;
  readonly criteria_scores: CriteriaScores | null;
}

/** `automatic`: of a new span; `requested`: by a run call; `external`: it ran elsewhere. */
export type EvaluationOrigin = 'automatic' | 'requested' | 'external';

/** An evaluation, with what its judge was at that moment. */
export interface Evaluation extends Verdict, ScoreScale {
  /** Lower-case UUID; that of its run, when it was run here. */
  readonly id: string;
  readonly project_id: string;
  readonly judge_id: string;
  readonly span_id: string;
  readonly origin: EvaluationOrigin;
  readonly evaluation_type: EvaluationType;
  readonly model_used: string | null;
  /** From the beginning of the call to its answer, in milliseconds. */
  readonly duration_ms: number | null;
  /** Of the instruction it was made with; null when it ran elsewhere. */
  readonly prompt_version_id: string | null;
  /** Names instruction and set of examples, see `judgeVersion`; null when it ran elsewhere. */
  readonly judge_version: string | null;
  readonly created_at: Micros;
}

/** An evaluation with the name of its judge. */
export interface NamedEvaluation extends Evaluation {
  readonly judge_name: string;
}

/** The version of a judge is that of its instruction together with the set of examples it is shown. */
export function judgeVersion(promptVersionId: string, examplesId: string | null): string {
  return `${promptVersionId}/${examplesId ?? 'none'}`;
}
