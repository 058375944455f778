import type { Config } from '../config/config.js';
import type { SpanPlace } from '../features/move/move.js';

/** Where the settings say that spans are. */
export function placeOf({ clickhouse: { url, database } }: Pick<Config, 'clickhouse'>): SpanPlace {
  return { url: url === null ? null : withoutUser(url), database };
}

function withoutUser(url: string): string {
  const { protocol, host } = new URL(url);
  return `${protocol}//${host}`;
}
