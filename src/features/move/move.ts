/** Where spans are kept. */
export interface SpanPlace {
  /** Protocol and host of a ClickHouse server, never its user or password; null: the embedded engine. */
  readonly url: string | null;
  readonly database: string;
}

/** What `CLICKHOUSE_DATABASE` is when it is not set. */
const DEFAULT_DATABASE = 'spanhouse';

/** How messages call a place. */
export function placeName({ url, database }: SpanPlace): string {
  return url === null ? 'the embedded engine of DATA_DIR' : `the database ${database} of the ClickHouse at ${url}`;
}

/** The settings that a server is started with for its spans to be in a place: backups that it makes are of the embedded engine. */
export function settingsOf({ url, database }: SpanPlace): string {
  const name = `CLICKHOUSE_DATABASE=${database}`;
  if (url === null) return `CLICKHOUSE_URL unset${database === DEFAULT_DATABASE ? '' : ` and ${name}`}`;
  return `CLICKHOUSE_URL=${url} ${name}, CLICKHOUSE_USER and CLICKHOUSE_PASSWORD, without BACKUP_EVERY and BACKUP_TO`;
}

/** Where a command reads the spans of a running server. */
export interface SpanAddress {
  readonly url: string;
  readonly username: string;
  readonly password: string;
  readonly database: string;
  readonly socketPath?: string;
}

export interface BegunMove {
  /** The same for all commands that continue with one move. */
  readonly id: string;
  readonly from: SpanPlace;
  readonly address: SpanAddress;
}

/** A state of the spans, in which all is committed and rolled up to a version. */
export interface SettledState {
  readonly upTo: number;
  /** The projects that there are: whatever else was copied belongs to deleted ones. */
  readonly projects: readonly string[];
}

/** A server whose spans are moved, one move at a time. */
export interface MoveSource {
  /** From here on, nothing that was replaced or deleted is removed for good, until the move is done or given up. */
  begin(to: SpanPlace): Promise<BegunMove>;
  /** Without the projects that are being deleted. */
  settled(): Promise<SettledState>;
  /** Refuses whatever changes spans, while reads continue. @returns the state that they are left in for good */
  close(): Promise<SettledState>;
  /** Spans are elsewhere from now on: this server writes none anymore, and no start does with its settings. */
  finish(): void;
  /** The command has ended. Unless it has finished, spans are taken again. Repeated calls do nothing. */
  end(): void;
}
