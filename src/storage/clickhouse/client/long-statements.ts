/** Settings of statements that name thousands of ids or versions: by default a ClickHouse server takes 256 KiB of text. */
export const LONG_STATEMENTS = { max_query_size: String(8 * 1024 * 1024) } as const;
