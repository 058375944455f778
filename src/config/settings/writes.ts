import { whole } from './kinds.js';

/** The engine, commits and what waits for them. */
export const writeSettings = {
  ENGINE_MEMORY_MB: whole({
    default: 2048,
    minimum: 512,
    maximum: 1_048_576,
    description: 'Memory limit of the process of the embedded ClickHouse, caches included.',
  }),
  RETENTION_INTERVAL_SECONDS: whole({
    default: 3600,
    minimum: 0,
    maximum: 86_400,
    description:
      'How often the server looks for traces that are older than their project keeps them (`retention_days`), and removes them. ' +
      '0: never.',
  }),
  DISK_RESERVE_MB: whole({
    default: 32,
    minimum: 8,
    maximum: 65_536,
    description:
      'Disk space that is kept in reserve for the embedded ClickHouse, so that everything stored can be read when the disk is full. ' +
      'Writes are then answered 503, until twice this much is free again.',
  }),
  COMMIT_MAX_ROWS: whole({
    default: 10_000,
    minimum: 1,
    maximum: 1_000_000,
    description: 'Most spans in one group commit, which stores the spans of concurrent requests together.',
  }),
  COMMIT_MAX_MB: whole({
    default: 32,
    minimum: 1,
    maximum: 256,
    description: 'Most data in one group commit, unless a single request has more.',
  }),
  COMMIT_WAIT_MS: whole({
    default: 3,
    minimum: 0,
    maximum: 1000,
    description:
      'Milliseconds that a group commit waits for more requests; after a slow commit, a quarter of the time that one took. 0: no wait.',
  }),
  QUEUE_MAX_MB: whole({
    default: 128,
    minimum: 1,
    maximum: 65_536,
    description:
      'Most data of spans waiting for their group commit; one project may have as much as is left free, so half when it is the only one. ' +
      'Writes beyond that are answered 429 with `Retry-After`.',
  }),
};
