/** The steps of an erasure, in their order, and what each counts. */
export const ERASURE_STEPS = {
  /** What was replaced or deleted leaves the tables for every read. */
  purging: 'span versions',
  /** So do the remains of deleted traces and sessions. */
  forgetting: 'traces and sessions',
  /** Files without them take the place of those that hold them, one partition of a table after the other. */
  rewriting: 'partitions',
} as const;

export type ErasureStep = keyof typeof ERASURE_STEPS;

/** How much of something is done. */
export type Counted = (done: number, total: number) => void;

/** How far a step of an erasure is. */
export interface ErasureProgress {
  readonly step: ErasureStep;
  readonly done: number;
  readonly total: number;
}

/** What was rewritten in a table, as large as it was before. */
export interface RewrittenTable {
  readonly table: string;
  readonly partitions: number;
  readonly bytes: number;
}

export interface ErasedFiles {
  readonly rewritten: readonly RewrittenTable[];
  /** How long ClickHouse keeps the files from before, at least. */
  readonly keptSeconds: number;
}

/** Takes what is deleted or replaced out of the files. */
export interface FileErasure {
  /**
   * Begins at once, or when the one in progress has ended: all that was deleted or replaced before the call is rewritten.
   * @throws DomainError `unavailable` when a store does not answer, also for what there was no room to rewrite; `conflict`
   * while what was deleted has to stay; the signal's reason
   */
  run(signal: AbortSignal, onProgress: (progress: ErasureProgress) => void): Promise<ErasedFiles>;
}
