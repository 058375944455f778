import { availableParallelism } from 'node:os';
import { MEGABYTE, type Limits } from '../limits.js';
import type { Settings } from '../settings.js';

/** An insert stores all or nothing as long as ClickHouse takes it as one block. */
const MAX_ENCODED_MB = 256;

/** How spans are taken and stored. */
export function writeGroup(settings: Settings, limits: Limits) {
  return {
    ingest: {
      maxEncodedBytes: maxEncodedBytes(settings, limits),
      maxTagBytes: limits.tagBytes,
      /** 0: all work is done by the main thread. */
      threads: settings.INGEST_THREADS ?? spareCores(),
    },
    commit: {
      maxRows: limits.commitRows,
      maxBytes: limits.commitBytes,
      queueMaxBytes: settings.QUEUE_MAX_MB * MEGABYTE,
      logMaxBytes: settings.WRITE_LOG_MAX_MB * MEGABYTE,
    },
  };
}

/** What an embedded engine can insert: it needs eight times as much memory, and has other work, too. */
function maxEncodedBytes({ MAX_BODY_MB, CLICKHOUSE_URL, ENGINE_MEMORY_MB }: Settings, limits: Limits): number {
  const insertable = CLICKHOUSE_URL === undefined ? ENGINE_MEMORY_MB / 16 : Infinity;
  const wanted = Math.min(limits.encodedPerBody * MAX_BODY_MB, MAX_ENCODED_MB, insertable) * MEGABYTE;
  return Math.max(wanted, limits.leastEncodedBytes);
}

/** Cores beside one for the main thread and one for ClickHouse, as far as the main thread can keep so many busy. */
function spareCores(): number {
  return Math.min(Math.max(availableParallelism() - 2, 0), 8);
}
