import { rm } from 'node:fs/promises';
import type { ClickHouseEndpoint } from '../clickhouse/client/endpoint.js';
import { connect } from '../clickhouse/client/client.js';
import { sql } from '../clickhouse/client/sql.js';
import { linkedCopy } from '../clickhouse/process/linked-copy.js';
import type { EngineOptions } from '../clickhouse/process/engine.js';
import type { Engine } from '../clickhouse/process/supervisor.js';

export interface CopiedEngine {
  readonly endpoint: ClickHouseEndpoint;
  /** Ends the engine and removes the copy. */
  close(): Promise<void>;
}

/**
 * Starts an engine on a copy of a stopped engine's folder, so that nothing of that changes.
 * @param copy the folder of the copy; what an earlier one left there is removed
 */
export async function startOnCopy(
  start: (options: EngineOptions) => Promise<Engine>,
  { path, ...options }: EngineOptions,
  copy: string,
): Promise<CopiedEngine> {
  const remove = () => rm(copy, { recursive: true, force: true });
  await remove();
  let engine: Engine | undefined;
  try {
    await linkedCopy(path, copy);
    engine = await start({ ...options, path: copy });
    const client = connect(engine.endpoint);
    // What is merged takes room, and is removed with the copy.
    await client.command(sql`SYSTEM STOP MERGES`).finally(() => client.close());
  } catch (error) {
    await engine?.stop();
    await remove();
    throw error;
  }
  const started = engine;
  return {
    endpoint: started.endpoint,
    async close() {
      await started.stop();
      await remove();
    },
  };
}
