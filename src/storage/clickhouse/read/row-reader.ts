import type { ClickHouseClient, QueryOptions } from '../client/client.js';
import type { Sql } from '../client/sql.js';
import { readJsonLines, type JsonLine } from './json-rows.js';

export interface ReadLimits {
  readonly timeoutSeconds: number;
  readonly maxResultBytes: number;
}

type Settings = NonNullable<QueryOptions['settings']>;

export interface RowReadOptions {
  readonly signal?: AbortSignal | undefined;
  /** Settings beyond those that the reader always has. */
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
  const always = { ...limiting(limits), ...settings };
  return <T>(statement: Sql, options: RowReadOptions = {}) =>
    client.query<T>(statement, {
      settings: { ...always, ...options.settings },
      ...(options.signal === undefined ? {} : { signal: options.signal }),
    });
}

/** Rows of a statement that answers JSON lines. */
export type ReadLines = (statement: Sql) => Promise<JsonLine[]>;

export function lineReader(client: ClickHouseClient, limits: ReadLimits): ReadLines {
  return async (statement) => readJsonLines(await client.text(statement, { settings: limiting(limits) }));
}

function limiting({ timeoutSeconds, maxResultBytes }: Partial<ReadLimits>): Settings {
  return {
    ...(timeoutSeconds === undefined ? {} : { max_execution_time: timeoutSeconds }),
    ...(maxResultBytes === undefined ? {} : { max_result_bytes: String(maxResultBytes) }),
  };
}
