/** Stands on the embedded engine's refusal of a statement of which it has run nothing. */
export const NOT_RUN_HEADER = 'x-spanhouse-not-run';

/** Where a ClickHouse answers, and as whom to ask. */
export interface ClickHouseEndpoint {
  readonly url: string;
  readonly username: string;
  readonly password: string;
  readonly database: string;
  /** The embedded engine, over the loopback interface. */
  readonly loopback?: true;
}
