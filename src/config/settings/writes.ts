import { Type } from '@sinclair/typebox';
import { whole } from './kinds.js';

/** The engine, commits and what waits for them. */
export const writeSettings = {
  ENGINE_MEMORY_MB: whole({
    default: 2048,
    minimum: 512,
    maximum: 1_048_576,
    description: 'Memory limit of the embedded ClickHouse process, including caches.',
  }),
  RETENTION_INTERVAL_SECONDS: whole({
    default: 3600,
    minimum: 0,
    maximum: 86_400,
    description:
      "How often the server looks for traces that exceed their project's retention (`retention_days`), and removes " +
      'them. 0: never.',
  }),
  DISK_RESERVE_MB: whole({
    default: 32,
    minimum: 8,
    maximum: 65_536,
    description:
      'Disk space that is reserved for the embedded ClickHouse, so that everything stored can be read when the disk ' +
      'is full. Writes then get 503, until twice this much is free again.',
  }),
  INGEST_THREADS: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 64,
      defaultText: 'two fewer than the number of cores, at most 8',
      description:
        'Threads that process request bodies of spans of 16 KB or more, in addition to the main thread: they decode, ' +
        'check, price and encode them, and render the responses. Each starts when it is first needed. 0, as on two ' +
        'cores: the main thread does everything.',
    }),
  ),
  QUEUE_MAX_MB: whole({
    default: 128,
    minimum: 1,
    maximum: 65_536,
    description:
      'Maximum size of the spans that wait for their group commit. One project may have as much as is left free, ' +
      'which is half if it is the only one. Further writes get 429 with `Retry-After`.',
  }),
  WRITE_LOG_MAX_MB: whole({
    default: 2048,
    minimum: 16,
    maximum: 1_048_576,
    description:
      'Maximum size of the data in the write-ahead log (`DATA_DIR/log`) that ClickHouse does not have yet, shared ' +
      'by project as in `QUEUE_MAX_MB`. While ClickHouse is unreachable, writes are acknowledged up to this size, ' +
      'and then get 503.',
  }),
};
