import { MEGABYTE } from '../limits.js';
import type { Settings } from '../settings.js';

/** ClickHouse: that of the operator, or the embedded one. */
export function clickHouseGroup(settings: Settings) {
  return {
    clickhouse: {
      /** Null: the embedded engine. */
      url: settings.CLICKHOUSE_URL ?? null,
      user: settings.CLICKHOUSE_USER,
      password: settings.CLICKHOUSE_PASSWORD ?? '',
      database: settings.CLICKHOUSE_DATABASE,
      cluster: settings.CLICKHOUSE_CLUSTER ?? null,
      leaseSeconds: settings.CLICKHOUSE_LEASE_SECONDS,
      writeLog: settings.CLICKHOUSE_WRITE_LOG === 'true',
    },
    engine: { memoryMb: settings.ENGINE_MEMORY_MB, diskReserveBytes: settings.DISK_RESERVE_MB * MEGABYTE },
  };
}
