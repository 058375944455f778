import type { CriterionFeedback, ScoreDirection } from '../../feedback/feedback.js';
import type { ScoreScale } from '../../judge/judge.js';
import type { Micros } from '../../time/timestamp.js';

/** What a judge found, as far as people's statements are compared with it. */
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
 * What one user said of one evaluation: of the latest one of the span by the judge at that time. Said again of the same
 * evaluation it replaces; said of a later evaluation it is a statement of its own.
 */
export interface Statement extends Opinion {
  readonly span_id: string;
  readonly user_id: string;
  readonly given_at: Micros;
  /** Null: the judge had not evaluated the span. */
  readonly evaluation: JudgedResult | null;
  /**
   * Revision of the judge's examples from which on some statement about this span is among them; null: none is, or not
   * before this one.
   */
  readonly known_since: number | null;
}

/** A statement with all that an example shows, of an evaluation. */
export interface ExampleStatement extends Opinion {
  readonly span_id: string;
  /** Of the judge's examples: the one that this statement made. Grows with every statement that is new or changed. */
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
 * What people said of what judges found. Every statement that was acknowledged is seen by every later read.
 * Each throws DomainError `unavailable`.
 */
export interface StatementStore {
  /** Revision of a judge's examples; 0: there never were any. Cheap enough for every evaluation. */
  revision(judgeId: string): number;
  /** The last revision at which a statement was removed; 0: none ever was. As cheap. */
  lastRemoval(judgeId: string): number;
  /** Of a judge, with a time from `start` to `end` (inclusive), in the order of time. */
  statements(judgeId: string, start: Micros, end: Micros): Statement[];
  /** Statements made by revisions after this one, newest first. */
  examples(judgeId: string, afterRevision: number, limit: number): ExampleStatement[];
  /** Versions in the order in which they began. */
  versions(judgeId: string): UsedVersion[];
}
