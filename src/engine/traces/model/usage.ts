import type { Micros } from '../../timestamp.js';

/** What the server called models for: judges' evaluations, trials of corrections, optimizations of prompts, people in the playground. */
export const PURPOSES = ['judge', 'calibration', 'optimization', 'playground'] as const;

export type Purpose = (typeof PURPOSES)[number];

/** What calls of models came to. */
export interface Usage {
  readonly calls: number;
  readonly errors: number;
  readonly input_tokens: number;
  readonly output_tokens: number;
  /** US dollars; null when no call has a known cost. */
  readonly cost: number | null;
}

/** The usage of one judge, of one job, or of one user of the playground. */
export interface UsageOf extends Usage {
  readonly purpose: Purpose;
  /** Id of the judge, of the job, or of the user. */
  readonly id: string;
}

/** When the calls began, inclusive; null: at any time. */
export interface UsageTimes {
  readonly from: Micros | null;
  readonly to: Micros | null;
}

export interface OwnUsageRead {
  readonly total: Usage;
  /** The dearest first, at most {@link MAX_GROUPS}. */
  readonly groups: readonly UsageOf[];
}

/** Most judges, jobs and users that one answer names. */
export const MAX_GROUPS = 1000;

/** What the calls of models that the server makes itself, and stores as spans, came to. */
export interface OwnUsage {
  /** @throws DomainError `unavailable` */
  read(projectId: string, times: UsageTimes, signal?: AbortSignal): Promise<OwnUsageRead>;
}
