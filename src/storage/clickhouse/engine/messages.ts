/** What the supervisor tells the engine process, over IPC. */
export type ToEngine =
  | {
      readonly type: 'open';
      /** Data directory, absolute. */
      readonly path: string;
      readonly database: string;
      readonly username: string;
      readonly password: string;
      /** Path of the Unix socket to listen on; what is there is replaced. */
      readonly socketPath: string;
      readonly memoryMb: number;
      readonly maxReadSeconds: number;
    }
  | { readonly type: 'beat'; readonly beat: number }
  | { readonly type: 'stop' };

/** What the engine process tells the supervisor. */
export type FromEngine =
  | { readonly type: 'opened'; readonly version: string; readonly openedInMs: number }
  /** It could not open, or the engine inside has died; the process ends by itself or by the supervisor's hand. */
  | { readonly type: 'failed'; readonly detail: string }
  | { readonly type: 'beat'; readonly beat: number }
  | { readonly type: 'stopped' };
