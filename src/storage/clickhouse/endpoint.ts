/** Where a ClickHouse answers, and as whom to ask. */
export interface ClickHouseEndpoint {
  readonly url: string;
  readonly username: string;
  readonly password: string;
  readonly database: string;
  /** The embedded engine, over the loopback interface. */
  readonly loopback?: true;
}
