export interface RecordPage<T> {
  readonly records: readonly T[];
  /** Where to continue; null: at the beginning, as there is nothing. */
  readonly next: string | null;
  /** Whether there is more right now. */
  readonly more: boolean;
}

export interface PageOf {
  readonly projectId: string;
  /** Where an earlier page ended; null: at the beginning. */
  readonly after: string | null;
  readonly limit: number;
}

/** What became of imported records. */
export interface Imported {
  /** That are there now and were not before. */
  readonly stored: number;
  /** That were there already, and stayed as they were. */
  readonly unchanged: number;
}

/** A page ends with the record that makes it so large: a request has room for it. */
export const PAGE_BYTES = 8 * 1024 * 1024;
