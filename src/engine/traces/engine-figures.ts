import { DomainError } from '../errors.js';
import type { EngineFigures, ReadEngineFigures } from '../signals/metrics/engine-gauges.js';
import { refusalCode } from './clickhouse/client/client-errors.js';
import type { ClickHouseClient } from './clickhouse/client/client.js';
import { sql } from './clickhouse/client/sql.js';

/** Who watches the server must not wait for long, above all when ClickHouse does not answer. */
const DEADLINE_MS = 2_000;

/** Asks ClickHouse for its memory and parts; null when it does not answer in time. */
export async function engineFigures(client: ClickHouseClient): ReturnType<ReadEngineFigures> {
  try {
    const [row] = await client.query<EngineFigures>(
      sql`SELECT (SELECT toFloat64(sum(value)) FROM system.metrics WHERE metric = 'MemoryTracking') AS memoryBytes,
  toFloat64(sum(active_parts)) AS parts, toFloat64(max(active_parts)) AS partitionParts
FROM (SELECT count() AS active_parts FROM system.parts WHERE active AND database = currentDatabase() GROUP BY table, partition_id)`,
      { signal: AbortSignal.timeout(DEADLINE_MS) },
    );
    return row ?? {};
  } catch (error) {
    // Refused, such as for want of rights to its tables, is an answer.
    const isAnswer = error instanceof DomainError && error.kind === 'internal' && refusalCode(error) !== null;
    return isAnswer ? {} : null;
  }
}
