/** The header of the embedded engine's refusal of a statement of which it has run nothing. */
export const NOT_RUN_HEADER = 'x-spanhouse-not-run';

/** Where a ClickHouse answers, and as whom to ask. */
export interface ClickHouseEndpoint {
  /** The address; only a name for the embedded engine, which listens on a socket alone. */
  readonly url: string;
  readonly username: string;
  readonly password: string;
  readonly database: string;
  /** The path of the embedded engine's Unix socket; absent for another ClickHouse. */
  readonly socketPath?: string;
}
