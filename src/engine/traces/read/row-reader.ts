import type { Readable } from 'node:stream';
import type { ClickHouseClient, QueryOptions } from '../clickhouse/client/client.js';
import type { Sql } from '../clickhouse/client/sql.js';
import { readJsonLines, type JsonLine } from './json-rows.js';

export interface ReadLimits {
  readonly timeoutSeconds: number;
  readonly maxResultBytes: number;
}

type Settings = NonNullable<QueryOptions['settings']>;

export interface ReadOptions {
  readonly signal?: AbortSignal | undefined;
  /** Settings beyond those that the reader always has. */
  readonly settings?: Settings;
}

/** Rows of a statement, as {@link ClickHouseClient.query} gives them. */
export type ReadRows = <T>(statement: Sql, options?: ReadOptions) => Promise<T[]>;

/** Reads statements under the same limits and settings. */
export interface Reader {
  readonly rows: ReadRows;
  /** Rows of a statement that answers JSON lines. */
  lines(statement: Sql, options?: ReadOptions): Promise<JsonLine[]>;
  /** Bytes of a statement that names its FORMAT. */
  stream(statement: Sql, options?: ReadOptions): Promise<Readable>;
}

/** @param settings of every statement, beside the limits */
export function openReader(
  client: ClickHouseClient,
  { timeoutSeconds, maxResultBytes }: Partial<ReadLimits> = {},
  settings: Settings = {},
): Reader {
  const always: Settings = {
    ...(timeoutSeconds === undefined ? {} : { max_execution_time: timeoutSeconds }),
    ...(maxResultBytes === undefined ? {} : { max_result_bytes: String(maxResultBytes) }),
    ...settings,
  };
  const optionsOf = ({ signal, settings: own }: ReadOptions = {}): QueryOptions => ({
    settings: own === undefined ? always : { ...always, ...own },
    ...(signal === undefined ? {} : { signal }),
  });
  return {
    rows: (statement, options) => client.query(statement, optionsOf(options)),
    lines: async (statement, options) => readJsonLines(await client.text(statement, optionsOf(options))),
    stream: (statement, options) => client.stream(statement, optionsOf(options)),
  };
}
