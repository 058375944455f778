/** Stands on the embedded engine's refusal of a statement of which it has run nothing. */
export const NOT_RUN_HEADER = 'x-spanhouse-not-run';

/** Where a ClickHouse answers, and as whom to ask. */
export interface ClickHouseEndpoint {
  /** Of the embedded engine, only a name: it listens on a socket alone. */
  readonly url: string;
  readonly username: string;
  readonly password: string;
  readonly database: string;
  /** Of the embedded engine: the path of its Unix socket. */
  readonly socketPath?: string;
}
