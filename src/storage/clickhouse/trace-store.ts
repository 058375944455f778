import { DomainError } from '../../domain/errors.js';
import type { WriteLog } from '../../domain/ingest/write-log.js';
import type { ErasedFiles, ErasureProgress } from '../../domain/deletion/erasure.js';
import type { StoredSpans } from '../../domain/deletion/stored-spans.js';
import type { Lists } from '../../domain/list/lists.js';
import type { ListStatistics } from '../../domain/list/statistics.js';
import type { TailSource } from '../../domain/list/tail.js';
import type { EntitySpans } from '../../domain/feedback/unified.js';
import type { WriteLoad } from '../../domain/judge/ingest-priority-throttle.js';
import type { MatchingSpans } from '../../domain/judge/matching-spans.js';
import type { Arrivals, SpanReader } from '../../domain/judge/span-reader.js';
import type { PromptSpans } from '../../domain/completions/prompt-spans.js';
import type { Completions } from '../../domain/prompt/completion-store.js';
import type { OwnUsage } from '../../domain/usage/own-usage.js';
import type { TraceSpans } from '../../domain/trace/outline.js';
import type { PricedSpans } from '../../domain/price/cost-explanation.js';
import type { UnpricedCalls } from '../../domain/price/unpriced-models.js';
import type { SpanTransfer } from '../../domain/transfer/span-transfer.js';
import type { OlderSpans } from '../../domain/backfill/older-spans.js';
import type { CalculatedSpans } from '../../domain/price/calculated-spans.js';
import type { OldTraces } from '../../domain/retention/old-traces.js';
import type { Audit } from '../../domain/check/audit.js';
import type { MigrationFile } from '../migration-files.js';
import { SpanSnapshots } from './backup/span-snapshots.js';
import { spanAudits, type SpanAuditOptions } from './check/span-audits.js';
import { storedSpanIds } from './check/stored-span-ids.js';
import { ClickHouseCalculatedSpans } from './calculated-spans.js';
import type { ClickHouseClient } from './client/client.js';
import type { CommitFollower } from './commit/commit-follower.js';
import { CommitNews } from './commit/commit-news.js';
import { CommitLog, type CommitLimits, type CommitObserver, type IsGone } from './commit/commit-log.js';
import { VersionClock, type Version } from './commit/version-clock.js';
import { RecentCommits } from './commit/recent-commits.js';
import { ClickHouseDeletions } from './deletions.js';
import { withRoom, type DiskSpace } from './commit/disk-space.js';
import { ClickHouseCompletions } from './completions.js';
import { ClickHouseEntitySpans } from './entity-spans.js';
import { Erasure } from './erasure.js';
import { ClickHouseArrivals } from './judge/arrivals.js';
import { ClickHouseMatchingSpans } from './judge/matching-spans.js';
import { ClickHouseSpanReader } from './judge/span-reader.js';
import { ClickHouseLists } from './list/clickhouse-lists.js';
import { ClickHouseStatistics } from './list/clickhouse-statistics.js';
import { ListReads, type QueryObserver } from './list/list-reads.js';
import { ClickHouseTails } from './list/tails.js';
import { ClickHouseTraceSpans } from './list/trace-spans.js';
import { ClickHouseUnpricedCalls } from './unpriced-calls.js';
import { spanBytesReader, type SpanBytes } from './span-bytes.js';
import { ClickHouseOwnUsage } from './own-usage.js';
import { ClickHousePromptSpans } from './prompt-spans.js';
import type { ReadLimits } from './read/row-reader.js';
import { migrate, type MigrationObserver } from './migrations.js';
import { ClickHouseOlderSpans } from './older-spans.js';
import { ClickHouseOldTraces } from './retention/old-traces.js';
import { openReader } from './read/row-reader.js';
import { ReadsInProgress, type Settle } from './read/reads-in-progress.js';
import { Purge, type PurgeFollower, type PurgeObserver } from './rollup/purge.js';
import { highestVersion, insertsEnded } from './rollup/healing.js';
import { Rollups, type RollupLimits, type RollupObserver } from './rollup/rollups.js';
import { WordIndex } from './search/word-index.js';
import { WordIndexer, type WordIndexObserver } from './search/word-indexer.js';
import { ClickHouseSpanTransfer } from './span-transfer.js';
import { createSpanAttachments, type SpanAttachments } from './span-attachments.js';

export interface TraceStoreOptions {
  readonly migrations: readonly MigrationFile[];
  readonly cluster: string | null;
  readonly commit: CommitLimits;
  readonly read: ReadLimits;
  readonly rollup: RollupLimits;
  readonly onPurged?: PurgeFollower;
  /** Room on the disk of ClickHouse; absent: not bounded. */
  readonly space?: DiskSpace;
  /** Whether a project was deleted; default: none was. */
  readonly isGone?: IsGone;
  /** Whether what was replaced or deleted is to stay for now; default: it need not. */
  readonly keepsReplaced?: () => boolean;
  /** The most characters that are kept of an input or output that a judge reads. */
  readonly maxJudgedCharacters: number;
  readonly observer: CommitObserver &
    RollupObserver &
    QueryObserver &
    PurgeObserver &
    MigrationObserver &
    WordIndexObserver;
}

/** Spans, traces and sessions in ClickHouse. */
export interface TraceStore {
  readonly log: WriteLog;
  readonly lists: Lists;
  readonly statistics: ListStatistics;
  readonly traceSpans: TraceSpans;
  readonly tails: TailSource;
  readonly deletions: StoredSpans;
  readonly oldTraces: OldTraces;
  readonly attachments: SpanAttachments;
  readonly calculated: CalculatedSpans & PricedSpans;
  readonly older: OlderSpans;
  readonly transfer: SpanTransfer;
  readonly entitySpans: EntitySpans;
  readonly spans: SpanReader;
  readonly arrivals: Arrivals;
  readonly matching: MatchingSpans;
  /** How busy the store is with what clients write. */
  writeLoad(): WriteLoad;
  /** Whether clients have written, or read lists, within the last seconds. */
  inUse(): boolean;
  readonly completions: Completions;
  readonly promptSpans: PromptSpans;
  readonly ownUsage: OwnUsage;
  readonly unpriced: UnpricedCalls;
  readonly spanBytes: SpanBytes;
  readonly snapshots: SpanSnapshots;
  /** Rolls up everything acknowledged, which otherwise happens by itself. @returns the version up to which all is rolled up */
  rollUp(): Promise<Version>;
  /** Refuses all that would change spans, while reads go on. @param refusal what writes are told; null: they are taken again */
  refuseWrites(refusal: DomainError | null): void;
  /**
   * Resolves once all that was taken is stored or refused, and rolled up. @returns the version of the last write
   * @throws DomainError `unavailable` while it is not known what is stored
   */
  written(): Promise<Version>;
  /** Removes span versions that were replaced or deleted, which otherwise happens by itself. @returns how many. */
  purge(): Promise<number>;
  /** Takes what was deleted or replaced out of the files, see {@link Erasure.run}. */
  erase(signal?: AbortSignal, onProgress?: (progress: ErasureProgress) => void): Promise<ErasedFiles>;
  /** Indexes the words of all written spans for search by text, which otherwise happens by itself. */
  indexWords(): Promise<void>;
  /** Audits of what is stored that also mend it; nobody may write meanwhile. */
  mendingAudits(options: Pick<SpanAuditOptions, 'extent' | 'isKnown'>): Promise<Audit[]>;
  /** Which of some spans are stored in a project, whatever their traces. */
  storedIds(projectId: string, spanIds: readonly string[]): Promise<ReadonlySet<string>>;
  /** Rejects when the store cannot serve. */
  check(): Promise<void>;
  /** Commits and rolls up everything accepted. */
  close(): Promise<void>;
}

/** Commits that take this share of the time leave little for anything else. */
const BUSY_SHARE = 0.2;

/**
 * Brings the schema up to date, heals what a crash left behind, and opens the store.
 * @throws MigrationError; DomainError when ClickHouse does not answer.
 */
export async function openTraceStore(client: ClickHouseClient, options: TraceStoreOptions): Promise<TraceStore> {
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
  });
  const erasure = new Erasure({ client, purge: () => purge.run(), end: () => oldestRead() + 1 });
  const notCurrent = (projectId: string) => rollups.notCurrent(projectId);
  const listReads = new ListReads({ client, reads, notCurrent, words, limits: options.read, observer });
  const revised = { reader: openReader(client, options.read), log, reads };
  return {
    log,
    lists: new ClickHouseLists(listReads),
    statistics: new ClickHouseStatistics(listReads),
    traceSpans: new ClickHouseTraceSpans(client, { reads, notCurrent }, options.read),
    tails: new ClickHouseTails({
      client,
      reads,
      notCurrent,
      limits: options.read,
      commits: news,
      committed() {
        demandCertain();
        return rollups.committedVersion;
      },
    }),
    deletions: new ClickHouseDeletions({
      client,
      log,
      settle,
      reads,
      indexer,
      forgetAside: (projectId) => rollups.forget(projectId),
      stale: (projectId) => rollups.notCurrent(projectId).stale,
      purgeWritten: () => purge.written(),
      deleted: () => purge.soon(),
    }),
    oldTraces: new ClickHouseOldTraces({ client, log, reads, limits: options.read }),
    attachments: createSpanAttachments(client, reads, options.read),
    calculated: new ClickHouseCalculatedSpans(revised),
    older: new ClickHouseOlderSpans(client, revised),
    transfer: new ClickHouseSpanTransfer(revised),
    entitySpans: new ClickHouseEntitySpans(client, reads, options.read),
    spans: new ClickHouseSpanReader({
      client,
      reads,
      settled,
      limits: options.read,
      maxCharacters: options.maxJudgedCharacters,
    }),
    arrivals,
    matching: new ClickHouseMatchingSpans(client, reads, options.read),
    writeLoad: () => commits.load(),
    inUse: () => reads.lately || commits.load().rowsPerSecond > 0,
    completions: new ClickHouseCompletions(client, reads, options.read),
    promptSpans: new ClickHousePromptSpans(client, reads, options.read),
    ownUsage: new ClickHouseOwnUsage(client, reads, options.read),
    unpriced: new ClickHouseUnpricedCalls(client, reads, options.read),
    spanBytes: spanBytesReader(client, options.read),
    snapshots: new SpanSnapshots({ client, log, reads, committed: () => rollups.committedVersion }),
    rollUp: () => rollups.settle(),
    refuseWrites: (refusal) => log.refuse(refusal),
    async written() {
      await log.idle();
      demandCertain();
      return rollups.settle();
    },
    async purge() {
      await rollups.settle();
      return purge.run();
    },
    async erase(signal = new AbortController().signal, onProgress = () => undefined) {
      await rollups.settle();
      return erasure.run(signal, onProgress);
    },
    async indexWords() {
      await rollups.settle();
      await indexer.run();
    },
    async mendingAudits(options) {
      await rollups.settle();
      const renewWords = async () => {
        await words.clear();
        await indexer.run();
      };
      const mending = { recompute: rollups.recompute.bind(rollups), renewWords };
      return spanAudits(client, { ...options, stopped: false, mending });
    },
    storedIds: (projectId, spanIds) => storedSpanIds(client, projectId, spanIds),
    async check() {
      if (!log.certain) throw new Error('recovering from a failed insert');
      if (!(await client.ping())) throw new Error('ClickHouse does not answer');
    },
    async close() {
      await purge.close();
      await indexer.close();
      await log.close();
      await rollups.close();
    },
  };
}
