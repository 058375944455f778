/** The messages of the supervisor to the engine process, over IPC. */
export type ToEngine =
  | {
      readonly type: 'open';
      /** Data directory, absolute. */
      readonly path: string;
      readonly database: string;
      readonly username: string;
      readonly password: string;
      /** Path of the Unix socket to listen on; a file that is there is replaced. */
      readonly socketPath: string;
      readonly memoryMb: number;
      readonly maxReadSeconds: number;
    }
  | { readonly type: 'beat'; readonly beat: number }
  | { readonly type: 'stop' };

/** The messages of the engine process to the supervisor, over IPC. */
export type FromEngine =
  | { readonly type: 'opened'; readonly version: string; readonly openedInMs: number }
  /** The data could not be opened, or the engine inside has died; the process ends by itself or is killed. */
  | { readonly type: 'failed'; readonly detail: string }
  | { readonly type: 'beat'; readonly beat: number }
  | { readonly type: 'stopped' };
