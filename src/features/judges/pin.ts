import type { Micros } from '../../engine/timestamp.js';
import type { EvaluationType } from './judge.js';

/** Most versions of one judge that are kept for experiments: their corrections are copied. */
export const MAX_PINS = 100;

/** A version of a judge that results of experiments are judged by: it stays what it is, whatever is corrected later. */
export interface Pin {
  readonly seq: number;
  readonly judge_id: string;
  /** See `judgeVersion`. */
  readonly judge_version: string;
  readonly prompt_version_id: string;
  /** Revision of the corrections; 0: none are shown. */
  readonly revision: number;
  /** Since when a span of its corrections is gone, so that nothing can be judged by it; null: it can. */
  readonly lost_at: Micros | null;
}

/** One correction of a pinned version, as JSON that only who makes and reads it knows. */
export interface PinnedCorrection {
  readonly span_id: string;
  readonly example: string;
}

export type PinDraft = Omit<Pin, 'seq' | 'lost_at'> & {
  readonly project_id: string;
  readonly created_at: Micros;
  /** Oldest first. */
  readonly corrections: readonly PinnedCorrection[];
};

/** A version that an experiment was to be judged by. */
export interface AskedPin extends Pin {
  readonly judge_name: string;
  readonly evaluation_type: EvaluationType;
}

/** What a version of a judge found of a result, or is about to. */
export interface ResultVerdict {
  readonly span_id: string;
  /** Null: it has not judged the result. */
  readonly evaluation_id: string | null;
  readonly passed: boolean | null;
  readonly score: number | null;
  readonly state: 'evaluated' | 'queued' | 'failed' | 'missing';
}

/** Pinned versions. @throws DomainError `unavailable` */
export interface PinStore {
  find(judgeId: string, judgeVersion: string): Pin | undefined;
  read(seq: number): Pin | undefined;
  /** Keeps a version, or finds that it is kept; those that no experiment and no run needs go. Undefined: there are too many. */
  keep(draft: PinDraft): Pin | undefined;
  /** Oldest first. */
  corrections(seq: number): PinnedCorrection[];
  /** Notes that an experiment is judged by a version from now on. */
  ask(experimentId: string, pin: number, at: Micros): void;
  /** Versions that an experiment was to be judged by, the last one first. */
  ofExperiment(projectId: string, experimentId: string): AskedPin[];
  /** Whether any run waits that is of a version, and of results of an experiment. */
  isQueued(seq: number, experimentId: string): boolean;
  /** What a version found of spans, in their order. */
  verdicts(projectId: string, pin: Pin, spanIds: readonly string[]): ResultVerdict[];
}
