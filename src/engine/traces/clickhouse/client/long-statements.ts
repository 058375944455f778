/** Settings of statements that name many thousands of ids or versions: by default a ClickHouse server takes 256 KiB of text. */
export const LONG_STATEMENTS = { max_query_size: String(32 * 1024 * 1024) } as const;
