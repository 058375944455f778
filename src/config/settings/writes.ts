import { Type } from '@sinclair/typebox';
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
  INGEST_THREADS: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 64,
      defaultText: 'two fewer than there are cores, at most 8',
      description:
        'Threads that read request bodies of spans from 16 KB on, beside the main thread: decode, check, price and encode them, and ' +
        'render the answers. Each is started when it is first needed. 0, as on two cores: the main thread does it all.',
    }),
  ),
  COMMIT_MAX_ROWS: whole({
    default: 10_000,
    minimum: 1,
    maximum: 1_000_000,
    description: 'Most spans in one group commit, and in one insert into ClickHouse.',
  }),
  COMMIT_MAX_MB: whole({
    default: 32,
    minimum: 1,
    maximum: 256,
    description: 'Most data in one group commit, and in one insert into ClickHouse, unless a single request has more.',
  }),
  QUEUE_MAX_MB: whole({
    default: 128,
    minimum: 1,
    maximum: 65_536,
    description:
      'Most data of spans waiting for their group commit; one project may have as much as is left free, so half when it is the only one. ' +
      'Writes beyond that are answered 429 with `Retry-After`.',
  }),
  WRITE_LOG_MAX_MB: whole({
    default: 2048,
    minimum: 16,
    maximum: 1_048_576,
    description:
      'Most data in the write-ahead log (`DATA_DIR/log`) that ClickHouse does not hold yet, shared by project as in `QUEUE_MAX_MB`. ' +
      'While ClickHouse is away, writes are acknowledged up to here, and then answered 503.',
  }),
};
