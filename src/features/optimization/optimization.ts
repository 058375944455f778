import type { JobHead } from '../../engine/work/job.js';
import type { CandidateResult, OptimizationResult } from './optimization-result.js';
import type { Readiness } from '../trials/readiness.js';
import type { ComparedBy } from './training-examples.js';

/** The part of an optimization that lists show. */
export interface OptimizationAbout {
  readonly prompt_slug: string;
  readonly base_version: number;
  /** Why it is this one; absent in optimizations from before it was noted. */
  readonly base_version_reason?: string;
  /** Judge that evaluates what comes of each prompt; null: the model compares. */
  readonly judge_id: string | null;
  readonly model: string;
  /** Completions whose feedback the candidates are written from. */
  readonly training: number;
  /** Other completions, on which each prompt is tried. */
  readonly held_out: number;
}

/** Whether a prompt can be optimized, and which version would be. */
export interface OptimizationReadiness extends Readiness {
  readonly prompt_slug: string;
  readonly base_version: number;
  readonly base_version_reason: string;
  readonly judge_id: string | null;
  /** Null: there is none. */
  readonly model: string | null;
  readonly compared_by: ComparedBy;
}

/** An optimization without its candidates. */
export interface OptimizationHead extends JobHead {
  readonly about: OptimizationAbout;
  readonly compared_by: ComparedBy;
}

export interface PromotableCandidate extends CandidateResult {
  /** Version that it became; null: it is none. */
  readonly promoted_version: number | null;
}

export interface OptimizationOutcome extends OptimizationResult {
  readonly candidates: readonly PromotableCandidate[];
}

/** Better versions of a prompt, and how they did; null until it is done. */
export interface Optimization extends OptimizationHead {
  readonly result: OptimizationOutcome | null;
}
