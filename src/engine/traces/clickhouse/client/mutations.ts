import { setTimeout as sleep } from 'node:timers/promises';
import { DomainError } from '../../../errors.js';
import type { ClickHouseClient } from './client.js';
import { LONG_STATEMENTS } from './long-statements.js';
import { empty, identifier, literal, numbers, sql, type Sql } from './sql.js';

/** How long a mutation is waited for that has to end some time; ClickHouse continues with it in any case. */
export const MUTATIONS_END_WITHIN_MS = 10 * 60_000;
/** Pauses between looks whether mutations have ended: short at first, as most end at once, then longer. */
const FIRST_PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 1_000;
const RETRY_AFTER_SECONDS = 5;
/** When nothing runs, and rows are left anyway, they are deleted again after so long. */
const AGAIN_AFTER_MS = 2_000;

export interface MutationWait {
  /** The table whose mutations alone are waited for; default: all of the database. */
  readonly table?: string;
  /** Ends the wait, not the mutation. Default: waits as long as it takes. */
  readonly signal?: AbortSignal;
}

/**
 * Waits for mutations, the rewriting of stored rows that statements have begun. They wait behind merges, and for many rows
 * take longer than any request may, so they are begun by a statement that returns at once and looked after here: a
 * statement that waited itself would keep a session of the engine from all others.
 * @throws DomainError `unavailable` when one fails, as ClickHouse continues trying, or the signal's time is over; else the
 * signal's reason.
 */
export function mutationsEnded(client: ClickHouseClient, wait: MutationWait = {}): Promise<void> {
  return until(() => noneRuns(client, wait), wait);
}

/**
 * Deletes the rows of these versions, see {@link deleteRows}.
 * @param versions few enough for a statement's text.
 */
export async function deleteVersions(
  client: ClickHouseClient,
  table: string,
  versions: readonly string[],
  signal?: AbortSignal,
): Promise<void> {
  if (versions.length > 0) await deleteRows(client, table, sql`ver IN (${numbers(versions)})`, signal);
}

/**
 * Deletes the rows that meet a condition, which merges then drop from disk. A deletion that is through, or was begun
 * before, is not done again.
 * @param condition without parameters; few rows that are written meanwhile may meet it.
 * @throws as {@link mutationsEnded}; the deletion may continue.
 */
export async function deleteRows(
  client: ClickHouseClient,
  table: string,
  condition: Sql,
  signal?: AbortSignal,
): Promise<void> {
  const from = identifier(table);
  const wait: MutationWait = { table, ...(signal && { signal }) };
  const begin = () =>
    client.command(sql`DELETE FROM ${from} WHERE ${condition}`, {
      settings: { ...LONG_STATEMENTS, lightweight_deletes_sync: '0' },
      ...(signal && { signal }),
    });
  let leftSince: number | undefined;
  // Rows are looked for, too: on a cluster a mutation is listed only a moment after its statement, and one can be killed.
  const gone = async () => {
    if (!(await noneRuns(client, wait))) {
      leftSince = undefined;
      return false;
    }
    const left = await client.query(sql`SELECT 1 FROM ${from} WHERE ${condition} LIMIT 1`, {
      settings: LONG_STATEMENTS,
      ...(signal && { signal }),
    });
    if (left.length === 0) return true;
    // A round that had read what was deleted stores rows of it afterwards.
    leftSince ??= performance.now();
    if (performance.now() - leftSince < AGAIN_AFTER_MS) return false;
    leftSince = undefined;
    await begin();
    return false;
  };
  await mutationsEnded(client, wait);
  if (await gone()) return;
  leftSince = undefined;
  await begin();
  await until(gone, wait);
}

async function noneRuns(client: ClickHouseClient, wait: MutationWait): Promise<boolean> {
  const ofTable = wait.table === undefined ? empty : sql` AND table = ${literal(wait.table)}`;
  const running = await client.query<{ failure: string }>(
    sql`SELECT latest_fail_reason AS failure FROM system.mutations
     WHERE database = currentDatabase() AND NOT is_done${ofTable}`,
    wait.signal && { signal: wait.signal },
  );
  const failed = running.find(({ failure }) => failure !== '');
  if (failed !== undefined) throw unavailable('fails to rewrite', wait, new Error(failed.failure));
  return running.length === 0;
}

async function until(condition: () => Promise<boolean>, wait: MutationWait): Promise<void> {
  const { signal } = wait;
  try {
    for (let pause = FIRST_PAUSE_MS; !(await condition()); pause = Math.min(pause * 1.5, LONGEST_PAUSE_MS))
      await sleep(pause, undefined, signal && { signal });
  } catch (error) {
    if (signal?.aborted !== true) throw error;
    const reason: unknown = signal.reason;
    if (!(reason instanceof DOMException && reason.name === 'TimeoutError')) throw reason;
    throw unavailable('has not yet rewritten', wait, reason);
  }
}

function unavailable(state: string, { table }: MutationWait, cause: unknown): DomainError {
  const detail = `ClickHouse ${state} ${table ?? 'its tables'}; it keeps retrying`;
  return new DomainError('unavailable', detail, { cause, retryAfterSeconds: RETRY_AFTER_SECONDS });
}
