/** The traces and sessions that a commit changed, by project. */
export interface Touched {
  readonly projectId: string;
  readonly traces: ReadonlySet<string>;
  /** Those of the traces that it removes whole, and that nothing else in it concerns. */
  readonly removed: ReadonlySet<string>;
  readonly sessions: ReadonlySet<string>;
}

/** Who has to know of writes. */
export interface CommitFollower {
  /**
   * Whether it has so much to do for a project that its writes must wait, and no one else's.
   * @param unflushed traces of the project that it has not heard of yet
   */
  isFull(projectId: string, unflushed: number): boolean;
  /** Resolves once some of what it has to do is done; rejects when the store does not answer. */
  progress(): Promise<void>;
  /** Called when writes are acknowledged: reads that begin from now on see them. */
  acknowledged(touched: readonly Touched[]): void;
}
