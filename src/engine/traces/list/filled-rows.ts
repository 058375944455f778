import type { ClickHouseClient } from '../clickhouse/client/client.js';
import { LONG_STATEMENTS } from '../clickhouse/client/long-statements.js';
import { deleteRows } from '../clickhouse/client/mutations.js';
import { statementsEnded } from '../clickhouse/client/running-statements.js';
import { numbers, sql, type Sql } from '../clickhouse/client/sql.js';
import type { ReadLimits } from '../read/row-reader.js';
import type { DiskSpace } from '../write/disk-space.js';

const DELETED_WITHIN_MS = 600_000;
/** Others read and write meanwhile. */
const OF_ONE_THREAD = { max_threads: 1, max_insert_threads: '1' } as const;

export interface FilledRowsParts {
  readonly client: ClickHouseClient;
  readonly limits: Pick<ReadLimits, 'timeoutSeconds'>;
  readonly space: Pick<DiskSpace, 'requireFree'>;
}

/** The rows of the table `newest_scores`. */
export class FilledRows {
  readonly #parts: FilledRowsParts;
  #emptied: Promise<void> | undefined;
  /** Numbers of fillings whose rows count no more. */
  readonly #left = new Set<number>();
  #removal: Promise<void> | undefined;

  constructor(parts: FilledRowsParts) {
    this.#parts = parts;
  }

  /** Whether as much is free on the disk as is to be. */
  get hasRoom(): boolean {
    try {
      this.#parts.space.requireFree();
      return true;
    } catch {
      return false;
    }
  }

  /** @param filled a condition on the rows of the filling @returns how many these then are; null: not all is stored, and nothing more will be */
  async insert(statement: Sql, filled: Sql): Promise<number | null> {
    const { client, limits } = this.#parts;
    try {
      // What an earlier process left is of no use.
      await (this.#emptied ??= this.empty());
      await client.command(statement, {
        settings: { ...LONG_STATEMENTS, ...OF_ONE_THREAD, max_execution_time: limits.timeoutSeconds },
      });
      const [row] = await client.query<{ rows: string | number }>(
        sql`SELECT count() AS rows FROM newest_scores WHERE ${filled}`,
      );
      return Number(row?.rows ?? 0);
    } catch {
      // Whoever waits reads the scores instead, and hears of it if these cannot be read either.
      await statementsEnded(client, '^INSERT INTO newest_scores\\b').catch(() => undefined);
      return null;
    }
  }

  /** Removes the rows of a filling. Nobody waits for it, and what is left goes with the next erasure or start. */
  remove(filling: number): void {
    this.#left.add(filling);
    this.#removal ??= this.#removeAll().finally(() => {
      this.#removal = undefined;
    });
  }

  async empty(signal?: AbortSignal): Promise<void> {
    try {
      await this.#parts.client.command(sql`TRUNCATE TABLE newest_scores`, signal === undefined ? {} : { signal });
      this.#left.clear();
    } catch (error) {
      this.#emptied = undefined;
      throw error;
    }
  }

  /** Those that have come together, by one mutation, and then those that came meanwhile. */
  async #removeAll(): Promise<void> {
    while (this.#left.size > 0) {
      const some = [...this.#left];
      this.#left.clear();
      const signal = AbortSignal.timeout(DELETED_WITHIN_MS);
      await deleteRows(this.#parts.client, 'newest_scores', sql`filling IN (${numbers(some)})`, signal).catch(
        () => undefined,
      );
    }
  }
}
