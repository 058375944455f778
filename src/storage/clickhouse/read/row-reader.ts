import type { ClickHouseClient, QueryOptions } from '../client/client.js';
import type { ReadLimits } from '../list/clickhouse-lists.js';
import type { Sql } from '../client/sql.js';

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
  return <T>(statement: Sql, options: RowReadOptions = {}) => {
    const { text, ...whose } = statement.render();
    return client.query<T>(text, {
      ...whose,
      settings: { ...always, ...options.settings },
      ...(options.signal === undefined ? {} : { signal: options.signal }),
    });
  };
}
