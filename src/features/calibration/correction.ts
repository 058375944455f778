import type { CriterionFeedback, ScoreDirection } from '../feedback/feedback.js';
import type { ScoreScale } from '../judges/judge.js';
import type { Micros } from '../../engine/timestamp.js';

/** A judge's result, as far as it is compared with feedback on it. */
export interface JudgedResult extends ScoreScale {
  readonly evaluation_result: boolean;
  readonly score: number | null;
  /** Version of the judge, see `judgeVersion`; null: the evaluation ran elsewhere and does not say. */
  readonly judge_version: string | null;
}

/** Feedback of a person on a judge's result: whether it was right, and for scores, how they should differ. */
export interface Opinion {
  readonly thumbs_up: boolean;
  readonly expected_score: number | null;
  readonly score_direction: ScoreDirection | null;
}

/**
 * Feedback of one user on one evaluation, whether that was right or not: on the span's latest one by the judge at that
 * time. New feedback on the same evaluation replaces it; feedback on a later evaluation is a correction of its own.
 */
export interface Correction extends Opinion {
  readonly span_id: string;
  /** The row of a dataset that the span is a result of; null, or absent: none is known. */
  readonly row_key?: string | null;
  readonly user_id: string;
  readonly given_at: Micros;
  /** Result of the judge; null: the judge had not evaluated the span. */
  readonly evaluation: JudgedResult | null;
  /**
   * First revision of the judge's set of corrections that holds a correction of an evaluation of this span; null: there
   * is none.
   */
  readonly known_since: number | null;
}

/** A correction of an evaluation, with all that an example shows. */
export interface ExampleCorrection extends Opinion {
  readonly span_id: string;
  readonly row_key?: string | null;
  /** Revision of the judge's set of corrections that this one made. Each new or changed correction makes the next. */
  readonly revision: number;
  readonly reason: string | null;
  readonly expected_output: string | null;
  readonly criteria_feedback: Readonly<Record<string, CriterionFeedback>> | null;
  readonly given_at: Micros;
  readonly evaluation: JudgedResult & { readonly evaluation_reason: string };
}

/** A version of a judge that evaluations were made with. */
export interface UsedVersion {
  /** Name of the version, see `judgeVersion`. */
  readonly judge_version: string;
  /** Number of the prompt version with the instruction; null when that is not known. */
  readonly prompt_version: number | null;
  /** When the first evaluation with this version was stored. */
  readonly began_at: Micros;
  readonly evaluations: number;
}

/**
 * The corrections of judges' evaluations. Every correction that was acknowledged is seen by every later read.
 * Each method throws DomainError `unavailable`.
 */
export interface CorrectionStore {
  /** Revision of a judge's set of corrections; 0: there never were any. Cheap enough for every evaluation. */
  revision(judgeId: string): number;
  /** The last revision at which a correction was removed; 0: none ever was. Cheap enough for every evaluation. */
  lastRemoval(judgeId: string): number;
  /** Corrections of a judge with a time from `start` to `end` (inclusive), in the order of time. */
  between(judgeId: string, start: Micros, end: Micros): Correction[];
  /** Corrections made by revisions after `afterRevision`, newest first. */
  examples(judgeId: string, afterRevision: number, limit: number): ExampleCorrection[];
  /** Versions of a judge in the order in which they began. */
  versions(judgeId: string): UsedVersion[];
}
