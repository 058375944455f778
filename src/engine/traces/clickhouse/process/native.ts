import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

/** An open connection of the native addon; opaque. */
export type NativeConnection = { readonly __chdb: unique symbol };

/** The result of a query: the bytes in the format asked for, untouched. */
export interface NativeResult {
  readonly bytes: Buffer;
  /** Time that the query took, in seconds. */
  readonly elapsed: number;
  readonly rowsRead: number;
  readonly bytesRead: number;
}

/** The part of chDB's native addon that the engine process uses. */
export interface Native {
  /** Opens (synchronously) a connection; the first one of a process loads the data and fixes the server settings. */
  CreateConnection(path: string, args?: readonly string[]): NativeConnection;
  /** Closes a connection. Never Call while a query runs on it: that aborts the whole engine. */
  CloseConnection(connection: NativeConnection): void;
  QueryAsyncConnection(connection: NativeConnection, sql: string, format: string): Promise<NativeResult>;
}

const USED: readonly (keyof Native)[] = ['CreateConnection', 'CloseConnection', 'QueryAsyncConnection'];

/**
 * Loads chDB's addon, past the package's `exports`: its public `Session` wraps every result once more and closes its
 * connections at a time of its own. Called in the engine process alone, so that an installation that speaks to a remote
 * ClickHouse never touches the addon (which does not exist for every platform).
 *
 * @throws Error when there is no addon for this platform, or when it no longer has what is used here.
 */
export function loadNative(): Native {
  const require = createRequire(import.meta.url);
  const root = dirname(require.resolve('chdb/package.json'));
  const loader = require(join(root, 'dist', 'loader.js')) as { loadNative(): Native };
  const native = loader.loadNative();
  const missing = USED.filter((name) => typeof native[name] !== 'function');
  if (missing.length > 0)
    throw new Error(`this version of chdb has no ${missing.join(', ')}: use the version in package.json`);
  return native;
}
