import type { ClickHouseClient, QueryOptions } from '../client/client.js';
import type { Sql } from '../client/sql.js';

export interface ReadLimits {
  readonly timeoutSeconds: number;
  readonly maxResultBytes: number;
}

type Settings = NonNullable<QueryOptions['settings']>;

export interface RowReadOptions {
  readonly signal?: AbortSignal | undefined;
  /** Beyond those that the reader always has. */
  readonly settings?: Settings;
}

/** Rows of a statement, as {@link ClickHouseClient.query} gives them. */
export type ReadRows = <T>(statement: Sql, options?: RowReadOptions) => Promise<T[]>;

/** @param settings of every statement, beside the limits */
export function rowReader(
  client: ClickHouseClient,
  limits: Partial<ReadLimits> = {},
  settings: Settings = {},
): ReadRows {
  const always = {
    ...(limits.timeoutSeconds === undefined ? {} : { max_execution_time: limits.timeoutSeconds }),
    ...(limits.maxResultBytes === undefined ? {} : { max_result_bytes: String(limits.maxResultBytes) }),
    ...settings,
  };
  return <T>(statement: Sql, options: RowReadOptions = {}) =>
    client.query<T>(statement, {
      settings: { ...always, ...options.settings },
      ...(options.signal === undefined ? {} : { signal: options.signal }),
    });
}
