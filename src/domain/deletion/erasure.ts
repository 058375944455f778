/** How far an erasure is: partitions of tables, each rewritten by itself. */
export interface ErasureProgress {
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
   * Begins at once, or when the one under way has ended: all that was deleted or replaced before the call is rewritten.
   * @throws DomainError `unavailable` when a store does not answer, also for what there was no room to rewrite; `conflict`
   * while what was deleted has to stay; the signal's reason
   */
  run(signal: AbortSignal, onProgress: (progress: ErasureProgress) => void): Promise<ErasedFiles>;
}
