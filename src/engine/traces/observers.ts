import type { Tracing } from '../signals/tracing.js';

export interface CommitObserver {
  /** A group is durable. `deletes`: of spans that are deleted, and of nothing else. */
  spansCommitted(commit: {
    readonly rows: number;
    readonly bytes: number;
    readonly deletes: boolean;
    readonly seconds: number;
  }): void;
  commitFailed(failure: { readonly rows: number; readonly error: unknown }): void;
  queueChanged(queue: { readonly rows: number; readonly bytes: number }): void;
  /** Absent when nothing is traced. */
  readonly tracing?: Tracing;
}

/** What happens between the acknowledgment of writes and their place in ClickHouse. */
export interface FlushObserver {
  flushed(flush: {
    readonly rows: number;
    readonly bytes: number;
    readonly deletes: boolean;
    readonly seconds: number;
  }): void;
  /** A flush failed and is repeated. */
  flushFailed(failure: { readonly rows: number; readonly error: unknown }): void;
  /** ClickHouse cannot read the rows of one acknowledged request: they stay in a file. */
  writeQuarantined(write: { readonly file: string; readonly rows: number; readonly error: unknown }): void;
  /** @param log what ClickHouse does not hold yet */
  logChanged(log: { readonly rows: number; readonly bytes: number }): void;
  /** A start found writes in the log that ClickHouse may not hold. */
  logRecovered(log: { readonly rows: number; readonly bytes: number }): void;
}

export interface MigrationObserver {
  /** A migration of ClickHouse begins, which rewrites so many stored rows of these tables. */
  migrationBegins(migration: {
    readonly version: number;
    readonly name: string;
    readonly rewrites: readonly string[];
    readonly rows: number;
  }): void;
}

export interface QueryObserver {
  queryFinished(query: { readonly list: string; readonly seconds: number }): void;
  queryFailed(failure: { readonly list: string; readonly seconds: number; readonly error: unknown }): void;
}

/** A trace or session that cannot be recomputed as a whole, or can again. */
export interface RolledUpItem {
  readonly kind: 'trace' | 'session';
  readonly projectId: string;
  readonly id: string;
}

/** How many are set aside. */
export interface SetAsideCount {
  readonly traces: number;
  readonly sessions: number;
}

export interface RollupObserver {
  rollupPending(pending: { readonly traces: number }): void;
  rollupFinished(rollup: { readonly traces: number; readonly seconds: number }): void;
  rollupFailed(failure: { readonly error: unknown }): void;
  /** @param stale whether its figures stay as they were, too, and not only its tags */
  setAside(item: RolledUpItem, state: { readonly stale: boolean; readonly error: unknown }): void;
  /** The trace or session is recomputed as a whole again, or deleted. */
  setAsideEnded(item: RolledUpItem): void;
  setAsideCounted(count: SetAsideCount): void;
  /** Absent when nothing is traced. */
  readonly tracing?: Tracing;
}

export interface WordIndexObserver {
  wordsIndexed(round: { readonly spans: number; readonly seconds: number }): void;
  wordIndexFailed(failure: { readonly error: unknown }): void;
}

export interface PurgeObserver {
  purgeFinished(purge: { readonly versions: number; readonly seconds: number }): void;
  purgeFailed(failure: { readonly error: unknown }): void;
}

/** The right of this server to write to a ClickHouse of the operator's. */
export interface LeaseObserver {
  leaseTaken(lease: { readonly epoch: number; readonly seconds: number }): void;
  /** A renewal failed and is repeated; writes are refused from when the lease runs out. */
  leaseRenewalFailed(failure: { readonly error: unknown }): void;
  /** Another server has taken it over. */
  leaseLost(loss: { readonly reason: string }): void;
}

export interface DiskObserver {
  /** Nothing more is stored; what is stored can be read. */
  diskFull(): void;
  diskHasRoom(): void;
  /** Room cannot be kept for what must be written when the disk is full. */
  diskReserveFailed(failure: { readonly error: unknown }): void;
}
