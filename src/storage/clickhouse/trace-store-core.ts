import { DomainError } from '../../domain/errors.js';
import type { ClickHouseClient } from './client/client.js';
import type { CommitFollower } from './commit/commit-follower.js';
import { CommitNews } from './commit/commit-news.js';
import { CommitLog, type CommitObserver } from './commit/commit-log.js';
import { VersionClock } from './commit/version-clock.js';
import { RecentCommits } from './commit/recent-commits.js';
import { Remains } from './deletion/remains.js';
import { withRoom } from './commit/disk-space.js';
import { Erasure } from './erasure.js';
import { ClickHouseArrivals } from './judge/arrivals.js';
import { migrate } from './migrations.js';
import { ReadsInProgress, type Settle } from './read/reads-in-progress.js';
import { Purge } from './rollup/purge.js';
import { highestVersion, insertsEnded } from './rollup/healing.js';
import { Rollups, type RollupObserver } from './rollup/rollups.js';
import { WordIndex } from './search/word-index.js';
import { WordIndexer } from './search/word-indexer.js';
import type { TraceStoreOptions } from './trace-store.js';

/** Commits that take this share of the time leave little for anything else. */
const BUSY_SHARE = 0.2;

/** The parts of the store that write, roll up and clean, which the others read by. */
export type TraceStoreCore = Awaited<ReturnType<typeof openTraceStoreCore>>;

/**
 * Brings the schema up to date, heals what a crash left behind, and begins to roll up.
 * @throws MigrationError; DomainError when ClickHouse does not answer.
 */
export async function openTraceStoreCore(client: ClickHouseClient, options: TraceStoreOptions) {
  await migrate(client, options.migrations, options.cluster, options.observer);
  // Inserts end first, or the clock would start below versions that they still store.
  await insertsEnded(client);
  const clock = new VersionClock(await highestVersion(client));
  const { observer } = options;
  const commits = new RecentCommits();
  const told: RollupObserver = {
    rollupPending: (pending) => observer.rollupPending(pending),
    rollupFailed: (failure) => observer.rollupFailed(failure),
    setAside: (item, state) => observer.setAside(item, state),
    setAsideEnded: (item) => observer.setAsideEnded(item),
    setAsideCounted: (count) => observer.setAsideCounted(count),
    ...(observer.tracing && { tracing: observer.tracing }),
    rollupFinished(rollup) {
      observer.rollupFinished(rollup);
      arrivals.arrived();
    },
  };
  const settled = () => (log.certain ? rollups.settled() : null);
  const demandCertain = () => {
    if (!log.certain) throw new DomainError('unavailable', 'The store is recovering.', { retryAfterSeconds: 1 });
  };
  const settle: Settle = async (projectId) => {
    demandCertain();
    return withRoom(() => rollups.settle(projectId));
  };
  const reads: ReadsInProgress = new ReadsInProgress({
    settle,
    readable(projectId, wanted) {
      demandCertain();
      return withRoom(() => rollups.readable(projectId, wanted));
    },
    committed(projectId) {
      demandCertain();
      return rollups.committedOf(projectId);
    },
  });
  const rollups: Rollups = new Rollups(client, clock, reads, told, options.rollup);
  const arrivals = new ClickHouseArrivals({ client, clock, settled, reads, limits: options.read });
  const commitObserver: CommitObserver = {
    commitFailed: (failure) => observer.commitFailed(failure),
    repairFailed: (failure) => observer.repairFailed(failure),
    queueChanged: (queue) => observer.queueChanged(queue),
    ...(observer.tracing && { tracing: observer.tracing }),
    spansCommitted(commit) {
      if (!commit.deletes) commits.committed(commit);
      indexer.committed(commit);
      options.space?.written(commit.bytes);
      observer.spansCommitted(commit);
    },
  };
  const news = new CommitNews();
  const follower: CommitFollower = {
    isFull: (projectId) => rollups.isFull(projectId),
    progress: () => rollups.progress(),
    repair: (upTo) => rollups.repair(upTo),
    committed(touched, upTo) {
      rollups.committed(touched, upTo);
      news.committed(touched);
    },
  };
  const log: CommitLog = new CommitLog(
    client,
    clock,
    options.commit,
    follower,
    commitObserver,
    options.space,
    options.isGone,
    () => reads.underWay,
  );
  await withRoom(() => rollups.repair(clock.last));
  // Rolling up begins at once, before anything else takes the room that was made for it.
  options.space?.onFull(() => void rollups.settle().catch(() => undefined));
  const words = new WordIndex(client);
  await words.load();
  const indexer = new WordIndexer({
    client,
    index: words,
    settled,
    busy: () => commits.load().share >= BUSY_SHARE || reads.lately,
    observer,
  });
  // A read that begins now reads the state that is rolled up now.
  const keepsReplaced = options.keepsReplaced ?? (() => false);
  const oldestRead = () => (keepsReplaced() ? 0 : Math.min(reads.oldest(), rollups.settled()));
  const purge = new Purge({
    client,
    observer,
    follower(versions) {
      options.onPurged?.(versions);
      rollups.purged();
      erasure.purged();
    },
    oldestRead,
    latest: () => clock.last,
  });
  const remains = new Remains({
    client,
    settled: oldestRead,
    round: () => clock.last,
    recompute: (things) => rollups.recompute(things),
  });
  const erasure = new Erasure({
    client,
    purge: (onProgress) => purge.run(undefined, onProgress),
    forget: (signal, onProgress) => remains.remove(signal, onProgress),
    end: () => oldestRead() + 1,
  });
  return {
    ...{ log, reads, rollups, commits, news, arrivals, words, indexer, purge, erasure },
    ...{ settled, settle, demandCertain },
  };
}
