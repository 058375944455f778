import { setTimeout as sleep } from 'node:timers/promises';
import { DomainError } from '../../../errors.js';
import type { ClickHouseClient } from './client.js';
import { literal, sql } from './sql.js';

const END_WITHIN_MS = 60_000;
const LOOKED_AT_MS = 100;

/**
 * Waits for statements that run now. One whose answer was lost, to this process or to an earlier one, may still be at
 * work on a ClickHouse that lives.
 * @param pattern a regular expression of RE2 that they match.
 * @throws DomainError `unavailable` when one does not end; else the signal's reason.
 */
export async function statementsEnded(client: ClickHouseClient, pattern: string, signal?: AbortSignal): Promise<void> {
  const deadline = performance.now() + END_WITHIN_MS;
  let running = await matching(client, pattern);
  while (running.length > 0) {
    signal?.throwIfAborted();
    if (performance.now() > deadline)
      throw new DomainError('unavailable', 'An earlier statement is still running on ClickHouse', {
        retryAfterSeconds: 5,
      });
    await sleep(LOOKED_AT_MS);
    const now = new Set(await matching(client, pattern));
    running = running.filter((id) => now.has(id));
  }
}

async function matching(client: ClickHouseClient, pattern: string): Promise<string[]> {
  const rows = await client.query<{ query_id: string }>(
    sql`SELECT query_id FROM system.processes WHERE current_database = currentDatabase() AND match(query, ${literal(pattern)})`,
  );
  return rows.map(({ query_id }) => query_id);
}
