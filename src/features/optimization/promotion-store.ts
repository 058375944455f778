import type { Micros } from '../../engine/timestamp.js';

/** Candidates that became versions. Each method throws DomainError `unavailable`. */
export interface PromotionStore {
  /** Versions made of a job's candidates, by the id of the candidate. */
  ofJob(jobId: string): Map<string, number>;
  /** Notes the version made of a candidate, unless there is one already. */
  add(jobId: string, candidateId: string, version: number, by: string, at: Micros): void;
}
