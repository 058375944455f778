/** Options that some source reads. */
export interface SourceOptions {
  readonly since?: string;
  readonly sourceUrl?: string;
  readonly publicKey?: string;
  readonly secretKey?: string;
  readonly sourceKey?: string;
  readonly sourceProject?: string;
}

/** Options, read. */
export interface Given extends SourceOptions {
  /** In milliseconds; null: all of it. */
  readonly sinceMs: number | null;
}
