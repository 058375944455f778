import { Governor } from '../work/governor.js';
import { SegmentLog } from './write/log/segment-log.js';
import type { ClickHouseClient } from './clickhouse/client/client.js';
import { recoveredWrite } from './write/commit-group.js';
import { CommitNews } from './write/commit-news.js';
import { CommitLog } from './write/commit-log.js';
import { Flusher } from './write/flusher.js';
import { UnflushedWrites } from './write/unflushed-writes.js';
import { insertedColumns } from './write/table-columns.js';
import { VersionClock, versionTime } from './write/version-clock.js';
import { TombstoneGc } from './deletion/tombstone-gc.js';
import { withRoom } from './write/disk-space.js';
import { Erasure } from './erasure.js';
import { ClickHouseArrivals } from './judge/arrivals.js';
import { migrate } from './migrations.js';
import { NewestScoreTable } from './list/newest-score-table.js';
import { ReadsInProgress, type Settle, type SettleMany, type Wanted } from './read/reads-in-progress.js';
import { Purge } from './rollup/purge.js';
import { insertsEnded } from './write/facts-of-spans.js';
import { MarkedProjects } from './write/marked-spans.js';
import { highestVersion } from './rollup/recovery.js';
import { Rollups } from './rollup/rollups.js';
import { WordIndex } from './search/word-index.js';
import { WordIndexer } from './search/word-indexer.js';
import type { TraceStoreOptions } from './trace-store.js';
import type { Signals } from '../signals/signals.js';

/** Acknowledged rows that are kept in memory until ClickHouse has them; beyond them, they are read from the log. */
const KEPT_BYTES = 16 * 1024 * 1024;

/** The parts of the store that write, roll up and clean, which the others read by. */
export type TraceStoreCore = Awaited<ReturnType<typeof openTraceStoreCore>>;

/**
 * Brings the schema up to date, recovers what a crash left behind, and begins to roll up.
 * @throws MigrationError; DomainError when ClickHouse does not answer.
 */
export async function openTraceStoreCore(client: ClickHouseClient, options: TraceStoreOptions) {
  const { observer, governor = new Governor() } = options;
  const { segments, clock, writes, newestAtStart } = await recoverWrites(client, options);
  const rollupObserver: Signals = {
    ...observer,
    rollupFinished(rollup) {
      observer.rollupFinished(rollup);
      arrivals.arrived();
    },
  };
  const settled = () => rollups.settled();
  const settle: Settle = (projectId) => withRoom(() => rollups.settle(projectId));
  const settleMany: SettleMany = (projectId, write) =>
    rollups.inLargeRounds(projectId, async () => {
      await write();
      return withRoom(() => rollups.settle(projectId, true));
    });
  const states = {
    settle,
    readable: (projectId: string, wanted: Wanted) => withRoom(() => rollups.readable(projectId, wanted)),
    committed: (projectId: string) => rollups.committedOf(projectId),
  };
  const reads: ReadsInProgress = new ReadsInProgress(states, governor);
  const waiting = waitingTold(options, writes);
  const marked = new MarkedProjects();
  const newestScores = new NewestScoreTable({
    ...{ client, governor, limits: options.read },
    ...(options.space && { space: options.space }),
  });
  const flusher: Flusher = new Flusher({
    ...{ client, writes, log: segments, limits: options.commit },
    observer: {
      ...observer,
      spansFlushed(flush) {
        if (!flush.deletes) governor.flushed(flush);
        indexer.committed(flush);
        options.space?.written(flush.bytes);
        waiting.changed();
        observer.spansFlushed(flush);
      },
    },
    onStored(stored) {
      rollups.stored(stored);
      newestScores.stored(stored);
    },
    onMarked: (projectId) => marked.add(projectId),
  });
  const state = {
    get acknowledged() {
      return writes.acknowledged;
    },
    storedUpTo: (projectId?: string) => writes.storedUpTo(projectId),
    flush: (projectId?: string) => flusher.flush(projectId),
  };
  const rollups: Rollups = new Rollups({
    ...{ client, clock, reads, governor, writes: state },
    ...{ observer: rollupObserver, limits: options.rollup },
  });
  const hasMarked = (projectId: string) => marked.has(projectId);
  const arrivals = new ClickHouseArrivals({ client, clock, settled, reads, hasMarked, limits: options.read });
  const news = new CommitNews();
  const log = new CommitLog({
    ...{ clock, limits: options.commit, writes, flusher, log: segments, observer: waiting.observer },
    follower: {
      isFull: (projectId, unflushed) => rollups.isFull(projectId, unflushed),
      progress: () => rollups.progress(),
      acknowledged: (touched) => news.committed(touched),
    },
    ...(options.space && { space: options.space }),
    ...(options.isGone && { isGone: options.isGone }),
  });
  // Where nothing was ever written, nothing is to be made agree or read again: some twelve statements less.
  const isNew = clock.last === 0;
  if (!isNew) {
    await withRoom(() => rollups.recover());
    await marked.load(client);
  }
  // Rolling up begins at once, before anything else takes the room that was made for it.
  options.space?.onFull(() => void rollups.settle().catch(() => undefined));
  const words = new WordIndex(client);
  if (!isNew) await words.load();
  const indexer = new WordIndexer({ client, index: words, settled, governor, observer });
  const { purge, erasure } = openCleaning({ client, options, clock, segments, rollups, reads, newestScores });
  flusher.added();
  return {
    ...{ log, reads, rollups, governor, news, arrivals, words, indexer, purge, erasure, writes, flusher },
    ...{ settled, settle, settleMany, newestAtStart, marked, newestScores },
  };
}

/** Brings the schema up to date, and reads from the log what ClickHouse may not have. */
async function recoverWrites(client: ClickHouseClient, options: TraceStoreOptions) {
  await migrate(client, options.migrations, options.cluster, options.observer);
  // Inserts end first, or the clock would start below versions that they still store.
  await insertsEnded(client);
  const { log: segments, recovered } = await openLog(options);
  const left = recovered.map(recoveredWrite).sort((one, other) => one.first - other.first);
  const clock = new VersionClock(Math.max(await highestVersion(client), left.at(-1)?.last ?? 0));
  const newestAtStart = clock.last === 0 ? null : versionTime(clock.last);
  const writes = new UnflushedWrites(clock.last, Math.min(KEPT_BYTES, options.commit.queueMaxBytes));
  writes.add(left);
  if (writes.rows > 0) options.observer.logRecovered({ rows: writes.rows, bytes: writes.bytes });
  return { segments, clock, writes, newestAtStart };
}

async function openLog({ log, migrations }: TraceStoreOptions) {
  if (log === null) return { log: null, recovered: [] };
  const schema = Math.max(0, ...migrations.map(({ version }) => version));
  return SegmentLog.open({ ...log, schema, columns: insertedColumns });
}

/** Tells the disk and the observer how much waits to be stored. @returns what is called when the queue or the log changed */
function waitingTold({ observer, space }: TraceStoreOptions, writes: UnflushedWrites) {
  let queuedBytes = 0;
  const changed = () => {
    space?.queued(queuedBytes + writes.bytes);
    observer.logChanged({ rows: writes.rows, bytes: writes.bytes });
  };
  const ofCommits: Signals = {
    ...observer,
    queueChanged(queue) {
      queuedBytes = queue.bytes;
      changed();
      observer.queueChanged(queue);
    },
  };
  return { changed, observer: ofCommits };
}

interface CleanedParts {
  readonly client: ClickHouseClient;
  readonly options: TraceStoreOptions;
  readonly clock: VersionClock;
  readonly segments: SegmentLog | null;
  readonly rollups: Rollups;
  readonly reads: ReadsInProgress;
  readonly newestScores: NewestScoreTable;
}

/** What removes rows that were superseded. */
function openCleaning({ client, options, clock, segments, rollups, reads, newestScores }: CleanedParts) {
  // A read that begins now reads the state that is rolled up now.
  const keepsReplaced = options.keepsReplaced ?? (() => false);
  // What the log may bring back by a restart stays, too: the tombstones that hide it would be gone.
  const oldestRead = () =>
    keepsReplaced() ? 0 : Math.min(reads.oldest(), rollups.settled(), (segments?.oldest ?? Infinity) - 1);
  const purge = new Purge({
    client,
    observer: options.observer,
    follower(versions) {
      options.onPurged?.(versions);
      rollups.purged();
      erasure.purged();
    },
    oldestRead,
    latest: () => clock.last,
  });
  const tombstoneGc = new TombstoneGc({
    client,
    settled: oldestRead,
    round: () => clock.last,
    recompute: (things) => rollups.recompute(things),
  });
  const erasure = new Erasure({
    client,
    purge: (onProgress) => purge.run(undefined, onProgress),
    forget: (signal, onProgress) => tombstoneGc.remove(signal, onProgress),
    end: () => oldestRead() + 1,
    closeNewestScores: (signal) => newestScores.close(signal),
  });
  return { purge, erasure };
}
