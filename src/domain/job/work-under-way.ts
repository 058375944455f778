/** What was deleted, as work under way may hold it. */
export interface Vanished {
  readonly projectId: string;
  /** Ids of spans; null: all of the project. */
  readonly spans: ReadonlySet<string> | null;
  /** Judges that may be shown one of the spans as an example right now. */
  readonly judges: ReadonlySet<string>;
  /** Jobs that work with one of the spans. */
  readonly jobs: ReadonlySet<string>;
}

/** Work that holds texts of spans in memory, such as evaluations. */
export interface WorkUnderWay {
  /**
   * Gives up what holds something of what vanished; what may go on without it begins anew. Resolves once nothing of it is
   * under way and nothing of it will be stored any more. Called after the records of it are gone.
   */
  giveUp(vanished: Vanished): Promise<void>;
}
