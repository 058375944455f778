import { DomainError } from '../../../domain/errors.js';
import { BackgroundLoop } from '../../../domain/job/background-loop.js';
import type { Micros } from '../../../domain/time/timestamp.js';
import type { PurgeObserver } from '../../../observability/events/storage.js';
import type { ClickHouseClient } from '../client/client.js';
import { deleteRows, deleteVersions, MUTATIONS_END_WITHIN_MS } from '../client/mutations.js';
import { empty, number, numbers, sql, type Sql } from '../client/sql.js';
import { versionAt, versionTime, type Version } from '../commit/version-clock.js';

export type { PurgeObserver } from '../../../observability/events/storage.js';

/**
 * Is told which span versions are gone, each by the moment of its commit. Called after they left the table `spans` and
 * before they leave `superseded`, so at least once for each, also across a crash.
 */
export type PurgeFollower = (versions: readonly Micros[]) => void;

/** The time between two looks whether there is something to purge. */
const INTERVAL_MS = 30_000;
/** Fewer superseded versions than this cost reads nothing; they wait until they are old, unless they were deleted. */
const WORTHWHILE = 2_000;
const OLD_MS = 10 * 60_000;
/** How long a version stays after it was replaced: by then hardly any read is left that it counts for. */
const READ_MS = 60_000;
/**
 * Versions in one statement; their list has to fit into a statement's text. More at once saves nothing: neighbouring
 * versions lie in few parts, the others are left alone, and reading the list costs what its length is.
 */
const BATCH = 5_000;

export interface PurgeSource {
  readonly client: ClickHouseClient;
  readonly observer: PurgeObserver;
  readonly follower: PurgeFollower;
  /** The oldest state that is read: what still counts in it stays. */
  readonly oldestRead: () => Version;
  /** How long the versions of one statement may take to go. */
  readonly patienceMs?: number;
}

interface Batch {
  readonly versions: readonly string[];
  /** The versions of which a bare row stays in `facts`. */
  readonly kept: readonly string[];
}

/**
 * Removes span versions that were replaced or deleted, so that disk use follows what is stored rather than what was
 * ever written, and so that `superseded`, which every read of spans consults, stays small. Every step may be repeated:
 * a version leaves `superseded` only after it has left everything else.
 *
 * Nothing waits for a purge: ClickHouse deletes in the background, and a deletion that takes too long, or is still under
 * way when the server stops, is left to it and looked at by the next purge.
 */
export class Purge {
  readonly #client: ClickHouseClient;
  readonly #observer: PurgeObserver;
  readonly #follower: PurgeFollower;
  readonly #oldestRead: () => Version;
  readonly #patienceMs: number;
  readonly #loop: BackgroundLoop;
  /** The latest run: one comes after another. */
  #running: Promise<unknown> = Promise.resolve();
  #preparing: Promise<unknown> = Promise.resolve();
  #last = Date.now();
  /** When the earliest and the latest deletion were that may not be purged yet. */
  #deletions: { readonly first: number; readonly last: number } | null = null;

  constructor({ client, observer, follower, oldestRead, patienceMs = MUTATIONS_END_WITHIN_MS }: PurgeSource) {
    this.#client = client;
    this.#observer = observer;
    this.#follower = follower;
    this.#oldestRead = oldestRead;
    this.#patienceMs = patienceMs;
    this.#loop = new BackgroundLoop({
      round: () => this.#runIfWorthwhile(),
      onFailure: (error) => observer.purgeFailed({ error }),
      retryMs: INTERVAL_MS,
    });
    this.#loop.wakeIn(INTERVAL_MS);
    // Spans deleted before the start wait no longer than those deleted now.
    this.soon();
  }

  /** Has everything purged as soon as it may be, however little there is: spans that a user deleted should not lie about. */
  soon(): void {
    const now = Date.now();
    this.#deletions = { first: this.#deletions?.first ?? now, last: now };
  }

  /**
   * Purges all that was replaced or deleted before a moment, but for what a read under way may still want.
   * @returns how many versions.
   * @throws DomainError `unavailable` when ClickHouse takes too long, or this is closed meanwhile.
   */
  run(before = Date.now()): Promise<number> {
    const running = this.#running.catch(() => undefined).then(() => this.#run(before));
    this.#running = running;
    return running;
  }

  async #run(before: number): Promise<number> {
    const started = performance.now();
    let count = 0;
    let end: Version;
    let batch: number;
    try {
      do {
        end = this.#end(before);
        batch = await this.#batch(end);
        count += batch;
      } while (batch > 0);
    } finally {
      if (count > 0) this.#observer.purgeFinished({ versions: count, seconds: (performance.now() - started) / 1000 });
    }
    this.#last = Date.now();
    const latest = this.#deletions?.last ?? 0;
    this.#deletions = versionAt(latest) < end ? null : { first: latest, last: latest };
    return count;
  }

  /** Resolves once no bare row is being written for versions that left `superseded` before the call. */
  async written(): Promise<void> {
    await this.#preparing.catch(() => undefined);
  }

  /** Ends purging at once, whatever ClickHouse is still deleting. */
  async close(): Promise<void> {
    await this.#loop.close(new DomainError('unavailable', 'The server stops; the next purge goes on'));
  }

  async #runIfWorthwhile(): Promise<number> {
    const before = Date.now() - READ_MS;
    const [row] = await this.#client.query<{ waiting: string }>(
      sql`SELECT toString(count()) AS waiting FROM superseded WHERE next_ver < ${number(this.#end(before))}`,
    );
    const waiting = Number(row?.waiting ?? 0);
    const due = Date.now() - this.#last >= OLD_MS || (this.#deletions?.first ?? Infinity) < before;
    if (waiting >= WORTHWHILE || (waiting > 0 && due)) await this.run(before);
    return INTERVAL_MS;
  }

  /** The version before which spans must have been replaced or deleted for their old versions to go. */
  #end(before: number): Version {
    return Math.min(versionAt(before), this.#oldestRead() + 1);
  }

  async #batch(end: Version): Promise<number> {
    const signal = AbortSignal.any([this.#loop.signal, AbortSignal.timeout(this.#patienceMs)]);
    const preparing = this.#prepare(end, signal);
    this.#preparing = preparing;
    const { versions, kept } = await preparing;
    if (versions.length === 0) return 0;
    const bare = kept.length === 0 ? empty : sql` AND NOT (deleted AND ver IN (${numbers(kept)}))`;
    // Both deletions at once, as each may have to wait behind merges.
    await Promise.all([
      deleteVersions(this.#client, 'spans', versions, signal),
      deleteRows(this.#client, 'facts', sql`ver IN (${numbers(versions)})${bare}`, signal),
    ]);
    this.#follower(versions.map((ver) => versionTime(Number(ver))));
    await deleteVersions(this.#client, 'superseded', versions, signal);
    return versions.length;
  }

  /**
   * The versions to be purged next. The first write of a trace, and the first that named a session, tell when these were
   * created. Their content goes all the same: a bare row is written in their place, which names the session and, as
   * `deleted`, says nothing else.
   */
  async #prepare(end: Version, signal: AbortSignal): Promise<Batch> {
    const query = async (statement: Sql) =>
      (await this.#client.query<{ ver: string }>(statement, { signal })).map(({ ver }) => ver);
    const versions = await query(
      sql`SELECT DISTINCT toString(s.ver) AS ver FROM superseded AS s
       WHERE s.next_ver < ${number(end)} ORDER BY s.ver LIMIT ${number(BATCH)}`,
    );
    if (versions.length === 0) return { versions, kept: [] };
    const all = numbers(versions);
    const kept = await query(
      sql`SELECT DISTINCT toString(created_ver) AS ver FROM traces WHERE created_ver IN (${all})
       UNION DISTINCT SELECT DISTINCT toString(created_ver) AS ver FROM session_traces WHERE created_ver IN (${all})`,
    );
    if (kept.length === 0) return { versions, kept };
    const first = sql`ver IN (${numbers(kept)})`;
    await this.#client.command(
      sql`INSERT INTO facts (project_id, trace_id, row_type, id, ver, deleted, session_id, origin_ver)
       SELECT project_id, trace_id, row_type, id, ver, 1, session_id, origin_ver FROM facts
       WHERE ${first} AND NOT deleted AND ver NOT IN (SELECT ver FROM facts WHERE ${first} AND deleted) LIMIT 1 BY ver`,
      { signal },
    );
    return { versions, kept };
  }
}
