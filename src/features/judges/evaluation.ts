import type { Micros } from '../../engine/timestamp.js';
import type { EvaluationType, ScoreScale } from './judge.js';

/** Evaluations of one span, beyond which none is taken from outside: whatever shows the span reads all of them. */
export const MAX_OF_SPAN = 1_000;
/** Evaluations of one span, beyond which none is imported: where judges ran here again and again, there may be more than come from outside. */
export const MAX_IMPORTED_OF_SPAN = 10 * MAX_OF_SPAN;
/** Exact versions of one judge, beyond which no import brings further ones: its figures are read with all of them. */
export const MAX_IMPORTED_VERSIONS = 10_000;

/** Score and reason by criterion key. */
export type CriteriaScores = Readonly<Record<string, { readonly score: number; readonly reason: string }>>;

/** A judge's result for a span. */
export interface Verdict {
  /** Whether the span passed. */
  readonly evaluation_result: boolean;
  readonly evaluation_reason: string;
  /** The judge's confidence, 0 to 1; null when it gave none. */
  readonly confidence_score: number | null;
  /** Score; null unless the judge is a scored one. */
  readonly score: number | null;
  readonly criteria_scores: CriteriaScores | null;
}

/** Origin of an evaluation. `automatic`: of a new span; `requested`: by a run call; `external`: it ran elsewhere. */
export type EvaluationOrigin = 'automatic' | 'requested' | 'external';

/** An evaluation, with its judge's scale at that moment. */
export interface Evaluation extends Verdict, ScoreScale {
  /** Lower-case UUID; that of the run, when the evaluation ran here. */
  readonly id: string;
  readonly project_id: string;
  readonly judge_id: string;
  readonly span_id: string;
  /** Trace that the span was in then; null when that is not known, as of evaluations that ran elsewhere. */
  readonly trace_id: string | null;
  /** The trace or session that was evaluated, for which the span stands; null, or absent: the span itself was. */
  readonly subject_id?: string | null;
  /** Moment up to which its spans had arrived that the judge was shown; null, or absent: of a span. */
  readonly subject_upto?: Micros | null;
  readonly origin: EvaluationOrigin;
  readonly evaluation_type: EvaluationType;
  readonly model_used: string | null;
  /** Time that the calls of the model took together, in milliseconds. */
  readonly duration_ms: number | null;
  /** Version of the prompt with the judge's instruction; null when the evaluation ran elsewhere and does not say. */
  readonly prompt_version_id: string | null;
  /** Names instruction and set of examples, see `judgeVersion`; null when it ran elsewhere and does not say. */
  readonly judge_version: string | null;
  /** Dataset and id of the row that the span was a result of; null, or absent: none is known. */
  readonly row_key?: string | null;
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
