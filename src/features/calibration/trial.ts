import type { JobHead } from '../../engine/work/job.js';
import type { TrialResult } from './trial-result.js';

/** The part of a trial that lists show. */
export interface TrialAbout {
  readonly judge_id: string;
  /** Version of the instruction that is tried. */
  readonly prompt_version: number;
  /** Spans to evaluate. */
  readonly held_out: number;
  /** Spans of the other half, whose corrections are shown as examples. */
  readonly examples: number;
}

/** A trial of a judge's corrections without its result. */
export interface CalibrationTrialHead extends JobHead {
  readonly about: TrialAbout;
}

/** A judge measured without and with the corrections it was given; the result is null until it is done. */
export interface CalibrationTrial extends CalibrationTrialHead {
  readonly result: TrialResult | null;
}
