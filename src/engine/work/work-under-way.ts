/** Deleted things that work in progress may hold texts of. */
export interface DeletionScope {
  readonly projectId: string;
  /** Ids of deleted spans; null: all of the project. */
  readonly spans: ReadonlySet<string> | null;
  /** Judges that may be shown one of the spans as an example right now. */
  readonly judges: ReadonlySet<string>;
  /** Jobs that work with one of the spans. */
  readonly jobs: ReadonlySet<string>;
}

/** Work that holds texts of spans in memory, such as evaluations. */
export interface WorkUnderWay {
  /**
   * Gives up work that holds texts of deleted things; work that may continue without them starts over. Resolves once nothing
   * of them is in progress or will be stored anymore. Called after their records are gone.
   */
  giveUp(scope: DeletionScope): Promise<void>;
}
