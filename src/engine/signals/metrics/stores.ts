import { engineGauges } from './engine-gauges.js';
import type { MetricMaker } from './maker.js';

/** Disks and ClickHouse. */
export function storeMetrics({ counter, gauge, registry }: MetricMaker) {
  return {
    diskFreeBytes: gauge('spanhouse_disk_free_bytes', 'Free bytes by disk: data, clickhouse, attachments.', ['disk']),
    diskTotalBytes: gauge('spanhouse_disk_total_bytes', 'Size of each disk.', ['disk']),
    diskMinFreeBytes: gauge(
      'spanhouse_disk_min_free_bytes',
      'Bytes to keep free on each disk; with less, spans are refused.',
      ['disk'],
    ),
    engineRestarts: counter(
      'spanhouse_engine_restarts_total',
      'Restarts of the embedded ClickHouse after a failure, including failed ones.',
    ),
    engineMemoryMaxBytes: gauge(
      'spanhouse_engine_memory_max_bytes',
      'Memory limit of the embedded ClickHouse (ENGINE_MEMORY_MB).',
    ),
    watchEngine: engineGauges(registry),
    leaseHeld: gauge(
      'spanhouse_lease_held',
      '1 while this server holds the lease to write to an external ClickHouse, else 0.',
    ),
    leaseRenewalsFailed: counter(
      'spanhouse_lease_renewals_failed_total',
      'Failed renewals of the lease to write to an external ClickHouse; each is retried.',
    ),
  };
}
