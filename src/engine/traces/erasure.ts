import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Counted, ErasedFiles, ErasureProgress, ErasureStep, RewrittenTable } from './model/deletion/erasure.js';
import { DomainError } from '../errors.js';
import { isRetryable } from '../work/retryable.js';
import type { ClickHouseClient } from './clickhouse/client/client.js';
import { mutationsEnded } from './clickhouse/client/mutations.js';
import { identifier, literal, sql, type Sql } from './clickhouse/client/sql.js';
import type { Version } from './write/version-clock.js';
import { purgeScores, purgeSessionStatements, supersedeTraceStatements } from './rollup/replaced-statements.js';

export interface ErasureSource {
  readonly client: ClickHouseClient;
  /** Removes, for reads, what was replaced or deleted. */
  readonly purge: (onProgress: Counted) => Promise<unknown>;
  /** Removes the remains of deleted traces and sessions. */
  readonly forget: (signal: AbortSignal, onProgress: Counted) => Promise<void>;
  /** The version before which something must have been replaced or deleted to count in no read anymore. */
  readonly end: () => Version;
  /** Empties the table of newest scores, which may hold what is to be erased; what changed is not known while it goes. @returns ends that */
  readonly closeNewestScores: (signal: AbortSignal) => Promise<() => void>;
}

/** Parts that lie together: what ClickHouse rewrites at once. */
interface Partition {
  readonly table: string;
  readonly partition: string;
  /** Bytes that are to be rewritten. */
  readonly bytes: string;
  /** Names without the mutation, by which a part is rewritten and not merged. */
  readonly parts: readonly string[];
}

/** Tables with texts whose rows are replaced by later ones; the earlier ones leave the disk when their parts are merged. */
const REPLACED_BY_MERGES: ReadonlySet<string> = new Set(['traces', 'session_traces', 'sessions']);
/** A rewritten part lies beside the one that it replaces for a while, and others need room meanwhile. */
const ROOM = 2;
/** Parts that are being merged already are merged with the others at the next attempt. */
const MERGE_ATTEMPTS = 5;
const LOOK_MS = 1_000;
/** How long ClickHouse keeps parts that others stand in for. The embedded engine says 0, and keeps them for minutes as well. */
const KEPT_SECONDS = 480;

/**
 * Takes out of ClickHouse's files what the purge only hides: rows that were deleted stay in their parts until a merge
 * happens to rewrite these, and replaced figures until their parts are merged. Partitions are rewritten one after the
 * other, and only those that hold something to erase. ClickHouse removes the old parts some minutes later.
 */
export class Erasure {
  readonly #source: ErasureSource;
  /** Whether figures may have been replaced or deleted since they were merged last. */
  #merging = true;

  constructor(source: ErasureSource) {
    this.#source = source;
  }

  /** Versions were purged. */
  purged(): void {
    this.#merging = true;
  }

  /**
   * @param onProgress told before each part of a step, and at its end
   * @throws DomainError `unavailable`, also for what there was no room for; the signal's reason. What is left is erased by the
   * next run.
   */
  async run(signal: AbortSignal, onProgress: (progress: ErasureProgress) => void): Promise<ErasedFiles> {
    const reopen = await this.#source.closeNewestScores(signal);
    try {
      return await this.#run(signal, onProgress);
    } finally {
      reopen();
    }
  }

  async #run(signal: AbortSignal, onProgress: (progress: ErasureProgress) => void): Promise<ErasedFiles> {
    const { client, purge, forget, end } = this.#source;
    await supersedeTraceStatements(client, end(), signal);
    if ((await purgeSessionStatements(client, end(), signal)) > 0) this.#merging = true;
    await purgeScores(client, end(), signal);
    // A purge goes on when no one waits for it anymore.
    const of = (step: ErasureStep): Counted => {
      return (done, total) => {
        if (!signal.aborted) onProgress({ step, done, total });
      };
    };
    await unlessAborted(purge(of('purging')), signal);
    await forget(signal, of('forgetting'));
    const merging = this.#merging;
    this.#merging = false;
    try {
      const masked = await this.#partitions(sql`has_lightweight_delete`, signal);
      const unmerged = merging ? await this.#unmerged(signal) : [];
      const work = [
        ...masked.map((partition) => ({ partition, rewrite: () => this.#rewrite(partition, signal) })),
        ...unmerged.map((partition) => ({ partition, rewrite: () => this.#merge(partition, signal) })),
      ];
      const rewriting = of('rewriting');
      let heldUp: DomainError | undefined;
      for (const [done, { partition, rewrite }] of work.entries()) {
        rewriting(done, work.length);
        const [needed, free] = [Number(partition.bytes) * ROOM, await this.#free(signal)];
        if (free < needed) heldUp = tooLittleRoom(partition, needed, free);
        else await rewrite();
      }
      if (heldUp !== undefined) throw heldUp;
      rewriting(work.length, work.length);
      return { rewritten: byTable(work.map(({ partition }) => partition)), keptSeconds: await this.#kept(signal) };
    } catch (error) {
      this.#merging ||= merging;
      throw error;
    }
  }

  async #rewrite({ table, partition }: Partition, signal: AbortSignal): Promise<void> {
    const { client } = this.#source;
    await mutationsEnded(client, { table, signal });
    await client.command(
      sql`ALTER TABLE ${identifier(table)} APPLY DELETED MASK IN PARTITION ID ${literal(partition)}`,
      {
        settings: { mutations_sync: '0' },
        signal,
      },
    );
    await mutationsEnded(client, { table, signal });
  }

  async #merge({ table, partition }: Partition, signal: AbortSignal): Promise<void> {
    const { client } = this.#source;
    const parts = await this.#unmergedParts(table, signal);
    for (let attempt = 0; attempt < MERGE_ATTEMPTS; attempt += 1) {
      await this.#noneMerges(table, signal);
      // Parts that a mutation has reached are not merged with others.
      await mutationsEnded(client, { table, signal });
      const all = sql`OPTIMIZE TABLE ${identifier(table)} PARTITION ID ${literal(partition)} FINAL`;
      // It takes longer than a statement is waited for where there is much.
      await client.command(all, { signal }).catch((error: unknown) => {
        if (signal.aborted || !isRetryable(error)) throw error;
      });
      await this.#noneMerges(table, signal);
      const now = new Set(await this.#unmergedParts(table, signal));
      if (!parts.some((part) => now.has(part))) return;
      await sleep(LOOK_MS, undefined, { signal });
    }
    throw new DomainError('unavailable', `ClickHouse did not merge ${table}: retrying`);
  }

  async #noneMerges(table: string, signal: AbortSignal): Promise<void> {
    const running = sql`SELECT 1 FROM system.merges WHERE database = currentDatabase() AND table = ${literal(table)} AND NOT is_mutation AND num_parts > 1 LIMIT 1`;
    while ((await this.#source.client.query(running, { signal })).length > 0)
      await sleep(LOOK_MS, undefined, { signal });
  }

  /** Parts of tables that replace rows by merges, unless they are merged. */
  async #unmerged(signal: AbortSignal): Promise<Partition[]> {
    const partitions = await this.#partitions(sql`1`, signal);
    return partitions.filter(({ table, parts }) => REPLACED_BY_MERGES.has(table) && parts.length > 1);
  }

  async #unmergedParts(table: string, signal: AbortSignal): Promise<string[]> {
    return (await this.#unmerged(signal)).filter((one) => one.table === table).flatMap(({ parts }) => parts);
  }

  #partitions(condition: Sql, signal: AbortSignal): Promise<Partition[]> {
    return this.#source.client.query<Partition>(
      sql`SELECT table, partition_id AS partition, toString(sum(bytes_on_disk)) AS bytes,
  groupArray(concat(partition_id, '_', toString(min_block_number), '_', toString(max_block_number), '_', toString(level))) AS parts FROM system.parts
WHERE active AND database = currentDatabase() AND ${condition} GROUP BY table, partition_id ORDER BY table, partition_id`,
      { signal },
    );
  }

  /** For how many seconds parts stay that others stand in for. */
  async #kept(signal: AbortSignal): Promise<number> {
    const [row] = await this.#source.client.query<{ value: string }>(
      sql`SELECT value FROM system.merge_tree_settings WHERE name = 'old_parts_lifetime'`,
      { signal },
    );
    return Math.max(KEPT_SECONDS, Number(row?.value ?? 0));
  }

  /** Room for rewritten parts; a disk without bounds has any. */
  async #free(signal: AbortSignal): Promise<number> {
    const [row] = await this.#source.client.query<{ free: string; disks: string }>(
      sql`SELECT toString(max(unreserved_space)) AS free, toString(count()) AS disks FROM system.disks
WHERE NOT is_remote AND name IN (SELECT disk_name FROM system.parts WHERE active AND database = currentDatabase())`,
      { signal },
    );
    return row === undefined || row.disks === '0' ? Infinity : Number(row.free);
  }
}

function byTable(partitions: readonly Partition[]): RewrittenTable[] {
  const tables = [...new Set(partitions.map(({ table }) => table))];
  return tables.map((table) => {
    const own = partitions.filter((partition) => partition.table === table);
    return { table, partitions: own.length, bytes: own.reduce((sum, { bytes }) => sum + Number(bytes), 0) };
  });
}

/** Waits for work that goes on by itself when it is not waited for anymore. @throws the signal's reason */
async function unlessAborted(work: Promise<unknown>, signal: AbortSignal): Promise<void> {
  const stopped = new AbortController();
  const aborted = once(signal, 'abort', { signal: stopped.signal }).then(() => signal.throwIfAborted());
  aborted.catch(() => undefined);
  try {
    signal.throwIfAborted();
    await Promise.race([work, aborted]);
  } finally {
    stopped.abort();
  }
}

function tooLittleRoom({ table, partition }: Partition, needed: number, free: number): DomainError {
  const megabytes = (bytes: number) => Math.ceil(bytes / 2 ** 20);
  return new DomainError(
    'unavailable',
    `Rewriting ${table} (partition ${partition}) needs ${megabytes(needed)} MB but only ${megabytes(free)} MB are free: free some space, and it is retried`,
  );
}
