import type { CriterionFeedback, ScoreDirection } from '../../feedback/feedback.js';
import type { ScoreScale } from '../../judge/judge.js';
import type { Micros } from '../../time/timestamp.js';

/** What a judge found, as far as it is compared with what people say of it. */
export interface JudgedResult extends ScoreScale {
  readonly evaluation_result: boolean;
  readonly score: number | null;
  /** See `judgeVersion`; null: it ran elsewhere. */
  readonly judge_version: string | null;
}

/** What a person says of what a judge found: whether it was right, and of scores what they should have been. */
export interface Opinion {
  readonly thumbs_up: boolean;
  readonly expected_score: number | null;
  readonly score_direction: ScoreDirection | null;
}

/**
 * What one user said of one evaluation, whether it was right or not: of the latest one of the span by the judge at that
 * time. Said again of the same evaluation it replaces; said of a later evaluation it is a correction of its own.
 */
export interface Correction extends Opinion {
  readonly span_id: string;
  readonly user_id: string;
  readonly given_at: Micros;
  /** Null: the judge had not evaluated the span. */
  readonly evaluation: JudgedResult | null;
  /**
   * Revision of the judge's set of corrections from which on there is some of this span in it; null: there is none, or not
   * before this one.
   */
  readonly known_since: number | null;
}

/** A correction with all that an example shows, of an evaluation. */
export interface ExampleCorrection extends Opinion {
  readonly span_id: string;
  /** Of the judge's set of corrections: the one that this one made. Grows with every correction that is new or changed. */
  readonly revision: number;
  readonly reason: string | null;
  readonly expected_output: string | null;
  readonly criteria_feedback: Readonly<Record<string, CriterionFeedback>> | null;
  readonly given_at: Micros;
  readonly evaluation: JudgedResult & { readonly evaluation_reason: string };
}

/** A version of a judge that evaluations were made with. */
export interface UsedVersion {
  /** See `judgeVersion`. */
  readonly judge_version: string;
  /** Number of the version of its instruction; null when that is not known. */
  readonly prompt_version: number | null;
  /** When its first evaluation was stored. */
  readonly began_at: Micros;
  readonly evaluations: number;
}

/**
 * What people said of what judges found. Every correction that was acknowledged is seen by every later read.
 * Each throws DomainError `unavailable`.
 */
export interface CorrectionStore {
  /** Revision of a judge's set of corrections; 0: there never were any. Cheap enough for every evaluation. */
  revision(judgeId: string): number;
  /** The last revision at which a correction was removed; 0: none ever was. As cheap. */
  lastRemoval(judgeId: string): number;
  /** Of a judge, with a time from `start` to `end` (inclusive), in the order of time. */
  between(judgeId: string, start: Micros, end: Micros): Correction[];
  /** Corrections made by revisions after this one, newest first. */
  examples(judgeId: string, afterRevision: number, limit: number): ExampleCorrection[];
  /** Versions in the order in which they began. */
  versions(judgeId: string): UsedVersion[];
}
