// Meanings of the error codes of ClickHouse, and of Node's connections to it.

/** ClickHouse's code for a disk without the room that it reserves. */
export const NOT_ENOUGH_SPACE = 243;
/** The system's error comes under several codes, such as 1001 and 1002, where only the text tells. */
export const NO_SPACE = /no space left on device|ENOSPC|errno: 28\b/i;

/** ClickHouse's code for a statement that met its memory limit. */
export const MEMORY_LIMIT_EXCEEDED = 241;

/** ClickHouse's code for an answer beyond its limit, TOO_MANY_ROWS_OR_BYTES. */
export const RESULT_TOO_LARGE = 396;

/** ClickHouse's code for what a view of ours throws, FUNCTION_THROW_IF_VALUE_IS_NON_ZERO. */
export const THROWN_BY_VIEW = 395;

/** Codes of ClickHouse for a limit met, with what it was a limit of. */
export const LIMITS: ReadonlyMap<number, string> = new Map([
  [158, 'rows read'], // TOO_MANY_ROWS
  [159, 'time'], // TIMEOUT_EXCEEDED
  [160, 'time'], // TOO_SLOW
  [MEMORY_LIMIT_EXCEEDED, 'memory'],
  [307, 'bytes read'], // TOO_MANY_BYTES
  [RESULT_TOO_LARGE, 'result size'],
]);

/** Codes of ClickHouse for a value that is larger than it can hold. */
export const TOO_LARGE: ReadonlySet<number> = new Set([128, 131]); // TOO_LARGE_ARRAY_SIZE, TOO_LARGE_STRING_SIZE

/** Codes of a ClickHouse that is there but cannot serve now. */
export const NOT_NOW: ReadonlyMap<number, string> = new Map([
  [202, 'ClickHouse is running too many queries'], // TOO_MANY_SIMULTANEOUS_QUERIES
  [209, 'ClickHouse met a network timeout'], // SOCKET_TIMEOUT
  [210, 'ClickHouse met a network error'], // NETWORK_ERROR
  [236, 'ClickHouse is restarting'], // ABORTED
  [242, 'the table is read-only for now'], // TABLE_IS_READ_ONLY
  [252, 'ClickHouse has too many parts to merge'], // TOO_MANY_PARTS
  [279, 'no replica responds'], // ALL_CONNECTION_TRIES_FAILED
  [319, 'the replicas did not confirm in time'], // UNKNOWN_STATUS_OF_INSERT
  [394, 'the query was canceled'], // QUERY_WAS_CANCELLED
  [999, 'ClickHouse Keeper does not respond'], // KEEPER_EXCEPTION
]);

/**
 * Codes raised before the first row is written: the statement was not accepted, or its data could not be parsed. (The
 * latter holds for batches of one block, that is below max_insert_block_size rows.) Every other code may come after,
 * for instance from a materialized view.
 */
export const UNREADABLE: ReadonlySet<number> = new Set([26, 27, 32, 33]);
export const BEFORE_WRITING: ReadonlySet<number> = new Set([...UNREADABLE, 16, 60, 62, 81, 115, 164, 202, 516]);

/**
 * Node's codes of a ClickHouse that cannot be reached; the embedded engine's socket is gone while it starts over. Some come
 * of a connection that was open, too: only of a call that opens one is it certain that nothing was sent.
 */
export const NO_CONNECTION: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'ENOENT',
  // More connections wait for a local socket than it has room for.
  'EAGAIN',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
]);
/** Node's names of the calls that open a connection. */
export const OPENING: ReadonlySet<string> = new Set(['connect', 'getaddrinfo']);
/** Node's codes of a connection that was open. */
export const BROKEN_CONNECTION: ReadonlySet<string> = new Set([
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'ECONNABORTED',
  'ERR_STREAM_PREMATURE_CLOSE',
]);
