import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Counted } from '../model/deletion/erasure.js';
import { DomainError } from '../../errors.js';
import { BackgroundLoop } from '../../work/background-loop.js';
import type { Micros } from '../../timestamp.js';
import type { ClickHouseClient } from '../clickhouse/client/client.js';
import { deleteRows, MUTATIONS_END_WITHIN_MS } from '../clickhouse/client/mutations.js';
import { empty, listOf, number, numbers, sql, type Sql } from '../clickhouse/client/sql.js';
import { versionTime, type Version } from '../write/version-clock.js';
import { keepFirstWrites, versionsOf, type Among } from './first-writes.js';
import { purgeTraces, removedTraces } from './purge-traces.js';
import type { Signals } from '../../signals/signals.js';

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
 * Versions that go together where hardly any other lies between the first and the last of them, as after retention: each
 * batch looks through the versions of all facts.
 */
const BATCH = 200_000;
/** So many others at most: what a statement names is read again for each part. */
const OTHERS = 2_000;
/**
 * Versions that go together where many others lie between them, as where several projects are written to: each is named. The
 * more there are the less each costs, as each batch looks through all facts and spans; with more than 131,072, ClickHouse takes
 * minutes to compare them with an index of versions.
 */
const NAMED = 100_000;
/** Versions that a follower gets at once; in between, others have their turn. */
const TOLD_AT_ONCE = 5_000;

export interface PurgeSource {
  readonly client: ClickHouseClient;
  readonly observer: Pick<Signals, 'purgeFinished' | 'purgeFailed'>;
  readonly follower: PurgeFollower;
  /** The oldest state that is read: what still counts in it stays. */
  readonly oldestRead: () => Version;
  /** The latest version that was given out. */
  readonly latest: () => Version;
  /** How long the versions of one statement may take to go. */
  readonly patienceMs?: number;
}

/** A state that every read saw at least, at a moment of `performance.now()`. */
interface Look {
  readonly at: number;
  readonly state: Version;
}

interface Batch {
  readonly versions: readonly string[];
  readonly among: Among;
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
  readonly #observer: PurgeSource['observer'];
  readonly #follower: PurgeFollower;
  readonly #oldestRead: () => Version;
  readonly #latest: () => Version;
  readonly #patienceMs: number;
  readonly #loop: BackgroundLoop;
  /** The latest run: one comes after another. */
  #running: Promise<unknown> = Promise.resolve();
  #preparing: Promise<unknown> = Promise.resolve();
  /** States that every read saw at least, and when: by this clock, as versions may be ahead of the time of day. */
  #looks: readonly Look[];
  #last = performance.now();
  /** Versions that the earliest and the latest deletion do not exceed that may not be purged yet. */
  #deletions: { readonly first: Version; readonly last: Version } | null = null;

  constructor({ client, observer, follower, oldestRead, latest, patienceMs = MUTATIONS_END_WITHIN_MS }: PurgeSource) {
    this.#client = client;
    this.#observer = observer;
    this.#follower = follower;
    this.#oldestRead = oldestRead;
    this.#latest = latest;
    this.#patienceMs = patienceMs;
    this.#looks = [this.#look()];
    this.#loop = new BackgroundLoop({
      round: () => this.#runIfWorthwhile(),
      onFailure: (error) => observer.purgeFailed({ error }),
    });
    this.#loop.wakeIn(INTERVAL_MS);
    // Spans deleted before the start wait no longer than those deleted now.
    this.soon();
  }

  /** Has everything purged as soon as it may be, however little there is: spans that a user deleted should not lie about. */
  soon(): void {
    const last = this.#latest();
    this.#deletions = { first: this.#deletions?.first ?? last, last };
  }

  /**
   * Purges all that was replaced or deleted, except for what a read in progress may still want.
   * @param look nothing that was replaced or deleted after it; default: what is before this call
   * @param onProgress told how many versions are purged, before and after each batch
   * @returns how many versions; one that a round records again while it goes counts again.
   * @throws DomainError `unavailable` when ClickHouse takes too long, or this is closed meanwhile.
   */
  run(look?: Look, onProgress?: Counted): Promise<number> {
    const running = this.#running.catch(() => undefined).then(() => this.#run(look ?? this.#look(), onProgress));
    this.#running = running;
    return running;
  }

  /**
   * Purges traces that were removed whole before this call, as far as no read in progress counts them.
   * @throws as {@link run}
   */
  ofRemovedTraces(): Promise<void> {
    const look = this.#look();
    const running = this.#running
      .catch(() => undefined)
      .then(async () => {
        await this.#batches((signal) => this.#removedTraces(this.#end(look), signal));
      });
    this.#running = running;
    return running;
  }

  async #run(look: Look, onProgress?: Counted): Promise<number> {
    const total = onProgress === undefined ? 0 : await this.#waiting(look);
    onProgress?.(0, total);
    let end: Version = 0;
    const batch = async (signal: AbortSignal) => {
      end = this.#end(look);
      return (await this.#removedTraces(end, signal)) || this.#versions(end, signal);
    };
    const count = await this.#batches(batch, (done) => onProgress?.(done, Math.max(done, total)));
    this.#last = performance.now();
    const latest = this.#deletions?.last ?? 0;
    this.#deletions = latest < end ? null : { first: latest, last: latest };
    return count;
  }

  /** Runs batches until one has nothing to purge. @returns how many versions they purged */
  async #batches(
    run: (signal: AbortSignal) => Promise<number>,
    onProgress: (done: number) => void = () => undefined,
  ): Promise<number> {
    const started = performance.now();
    let count = 0;
    try {
      for (let batch = 1; batch > 0;) {
        batch = await run(AbortSignal.any([this.#loop.signal, AbortSignal.timeout(this.#patienceMs)]));
        count += batch;
        if (batch > 0) onProgress(count);
      }
      return count;
    } finally {
      if (count > 0) this.#observer.purgeFinished({ versions: count, seconds: (performance.now() - started) / 1000 });
    }
  }

  /** Resolves once no bare row is being written for versions that left `superseded` before the call. */
  async written(): Promise<void> {
    await this.#preparing.catch(() => undefined);
  }

  /** Ends purging at once, whatever ClickHouse is still deleting. */
  async close(): Promise<void> {
    await this.#loop.close(new DomainError('unavailable', 'The server is stopping; the next purge resumes'));
  }

  async #runIfWorthwhile(): Promise<number> {
    const now = this.#look();
    const old = this.#looks.findLast(({ at }) => now.at - at >= READ_MS);
    this.#looks = [...this.#looks.filter((look) => look.at >= (old?.at ?? 0)), now];
    if (old === undefined) return INTERVAL_MS;
    const waiting = await this.#waiting(old);
    const due = now.at - this.#last >= OLD_MS || (this.#deletions?.first ?? Infinity) <= old.state;
    if (waiting >= WORTHWHILE || (waiting > 0 && due)) await this.run(old);
    return INTERVAL_MS;
  }

  /** How many versions there are to be purged. */
  async #waiting(look: Look): Promise<number> {
    const [row] = await this.#client.query<{ waiting: string }>(
      sql`SELECT toString(count()) AS waiting FROM superseded WHERE next_ver < ${number(this.#end(look))}`,
    );
    return Number(row?.waiting ?? 0);
  }

  #look(): Look {
    return { at: performance.now(), state: this.#oldestRead() };
  }

  /** The version before which spans must have been replaced or deleted for their old versions to go. */
  #end({ state }: Look): Version {
    return Math.min(state, this.#oldestRead()) + 1;
  }

  /** Whole traces first: what is theirs is found by their ids. */
  async #removedTraces(end: Version, signal: AbortSignal): Promise<number> {
    const purging = removedTraces(this.#client, end, signal).then(
      (traces) => traces && purgeTraces(this.#client, traces, (versions) => this.#tell(versions), signal),
    );
    this.#preparing = purging;
    return (await purging) ?? 0;
  }

  async #versions(end: Version, signal: AbortSignal): Promise<number> {
    const preparing = this.#prepare(end, signal);
    this.#preparing = preparing;
    const { versions, among, kept } = await preparing;
    if (versions.length === 0) return 0;
    const condition = among(sql`ver`);
    const bare = kept.length === 0 ? empty : sql` AND NOT (deleted AND ver IN ${listOf('UInt64', kept)})`;
    // Facts go behind their spans, whatever comes in between: what removes whole traces finds spans by them.
    await deleteRows(this.#client, 'spans', condition, signal);
    await deleteRows(this.#client, 'experiment_spans', condition, signal);
    await deleteRows(this.#client, 'facts', sql`${condition}${bare}`, signal);
    await this.#tell(versions);
    await deleteRows(this.#client, 'superseded', condition, signal);
    return versions.length;
  }

  async #tell(versions: readonly string[]): Promise<void> {
    for (let from = 0; from < versions.length; from += TOLD_AT_ONCE) {
      if (from > 0) await nextTurn();
      this.#follower(versions.slice(from, from + TOLD_AT_ONCE).map((ver) => versionTime(Number(ver))));
    }
  }

  async #prepare(end: Version, signal: AbortSignal): Promise<Batch> {
    const { versions, among } = await this.#next(end, signal);
    return { versions, among, kept: versions.length === 0 ? [] : await keepFirstWrites(this.#client, among, signal) };
  }

  /** The versions to be purged next, by the range that they lie in and what else does, or else by name. */
  async #next(end: Version, signal: AbortSignal): Promise<Omit<Batch, 'kept'>> {
    const purged = (range: Sql) =>
      sql`SELECT DISTINCT ver FROM superseded WHERE ${range} AND next_ver < ${number(end)}`;
    const read = (statement: Sql, most: number) =>
      versionsOf(
        this.#client,
        sql`SELECT toString(v.ver) AS version FROM (${statement}) AS v ORDER BY v.ver LIMIT ${number(most)}`,
        signal,
      );
    const some = await read(purged(sql`1`), BATCH);
    if (some.length === 0) return { versions: [], among: () => sql`0` };
    const [first, last] = [Number(some[0]), Number(some.at(-1))];
    const range = (column: Sql) => sql`${column} >= ${number(first)} AND ${column} <= ${number(last)}`;
    const inRange = range(sql`ver`);
    const left = (table: Sql) => sql`SELECT ver FROM ${table} WHERE ${inRange} AND ver NOT IN (${purged(inRange)})`;
    const others = await read(
      sql`SELECT DISTINCT ver FROM (${left(sql`spans`)} UNION ALL ${left(sql`facts`)})`,
      OTHERS + 1,
    );
    if (others.length > OTHERS) {
      const versions = some.slice(0, NAMED);
      return { versions, among: (column) => sql`${column} IN ${listOf('UInt64', versions)}` };
    }
    const except = (column: Sql) => (others.length === 0 ? empty : sql` AND ${column} NOT IN (${numbers(others)})`);
    // Looked for again: what has come to be purged since is among the others, or goes as well.
    const staying = new Set(others);
    const versions = (await read(purged(inRange), Number.MAX_SAFE_INTEGER)).filter((ver) => !staying.has(ver));
    return { versions, among: (column) => sql`${range(column)}${except(column)}` };
  }
}
