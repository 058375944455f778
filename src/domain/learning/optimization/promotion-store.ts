import type { Micros } from '../../time/timestamp.js';

/** Which candidates became versions. Each throws DomainError `unavailable`. */
export interface PromotionStore {
  /** Versions by the id of the candidate. */
  ofJob(jobId: string): Map<string, number>;
  /** Keeps the first one of a candidate. */
  add(jobId: string, candidateId: string, version: number, by: string, at: Micros): void;
}
