import type { Version } from './version-clock.js';

/** The traces and sessions that a commit changed, by project. */
export interface Touched {
  readonly projectId: string;
  readonly traces: ReadonlySet<string>;
  readonly sessions: ReadonlySet<string>;
}

/** Who has to know of commits: the rollups. */
export interface CommitFollower {
  /** Whether it has so much to do for a project that its writes must wait, and nobody else's. */
  isFull(projectId: string): boolean;
  /** Resolves once some of what it has to do is done; rejects when the store does not answer. */
  progress(): Promise<void>;
  /** Called after a commit is durable and before it is acknowledged. */
  committed(touched: readonly Touched[], upTo: Version): void;
  /**
   * Called when an insert with versions up to `upTo` failed in a way that may have left it half done. Brings spans and
   * facts back into agreement; rejects when the store does not answer.
   */
  repair(upTo: Version): Promise<void>;
}
