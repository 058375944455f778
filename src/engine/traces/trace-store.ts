import type { DomainError } from '../errors.js';
import type { WriteLog } from './model/write-log.js';
import type { ErasedFiles, ErasureProgress } from './model/deletion/erasure.js';
import type { StoredSpans } from './model/deletion/stored-spans.js';
import type { ExperimentResults } from './model/experiment/results.js';
import type { ListChanges } from './model/list/changes.js';
import type { Lists } from './model/list/lists.js';
import type { ListStatistics } from './model/list/statistics.js';
import type { TailSource } from './model/list/tail.js';
import type { ScoreTransfer } from './model/score/score-transfer.js';
import type { ScoreChanges, ScoreRemoval, Scores } from './model/score/scores.js';
import type { StoredIds } from './model/trace/mistaken-ids.js';
import type { EntitySpans } from './model/entity-spans.js';
import type { MatchingSpans } from './model/judged/matching-spans.js';
import type { Arrivals, SpanReader } from './model/judged/span-reader.js';
import type { WholeReader } from './model/judged/whole-reader.js';
import type { PromptSpans } from './model/prompts/prompt-spans.js';
import type { Completions } from './model/prompts/completion-store.js';
import type { OwnUsage } from './model/usage.js';
import type { TraceSpans } from './model/trace/outline.js';
import type { PartialSpans } from './model/partial/partial-spans.js';
import type { PricedSpans } from './model/prices/priced-spans.js';
import type { UnpricedCalls } from './model/prices/unpriced-calls.js';
import type { SpanTransfer } from './model/transfer/span-transfer.js';
import type { OlderSpans } from './model/older-spans.js';
import type { CalculatedSpans } from './model/prices/calculated-spans.js';
import type { OldTraces } from './model/retention/old-traces.js';
import type { Micros } from '../timestamp.js';
import type { Governor } from '../work/governor.js';
import type { Audit } from './model/check/audit.js';
import type { MigrationFile } from '../files/migration-files.js';
import type { SegmentLogOptions } from './write/log/segment-log.js';
import type { SpanSnapshots } from './backup/span-snapshots.js';
import type { SpanAuditOptions } from './check/span-audits.js';
import type { EncodedLog } from './write/encoded-writes.js';
import type { CommitLimits } from './write/commit-log.js';
import type { IsGone } from './write/write-gate.js';
import type { Version } from './write/version-clock.js';
import type { DiskSpace } from './write/disk-space.js';
import type { SpanBytes } from './span-bytes.js';
import type { ReadLimits } from './read/row-reader.js';
import type { PurgeFollower } from './rollup/purge.js';
import type { RollupLimits } from './rollup/rollups.js';
import type { SpanAttachments } from './span-attachments.js';
import type { Signals } from '../signals/signals.js';

export interface TraceStoreOptions {
  readonly migrations: readonly MigrationFile[];
  readonly cluster: string | null;
  readonly commit: CommitLimits;
  /** The folder of the write-ahead log, and what its rows are for; null: a write is acknowledged when ClickHouse holds it. */
  readonly log: Pick<SegmentLogOptions, 'directory' | 'store'> | null;
  readonly read: ReadLimits;
  readonly rollup: RollupLimits;
  readonly onPurged?: PurgeFollower;
  /** Room on the disk of ClickHouse; absent: not bounded. */
  readonly space?: DiskSpace;
  /** Is told what is read and written; default: one that no one else asks. */
  readonly governor?: Governor;
  /** Whether a project was deleted; default: none was. */
  readonly isGone?: IsGone;
  /** Whether what was replaced or deleted is to stay for now; default: it need not. */
  readonly keepsReplaced?: () => boolean;
  /** The most characters that are kept of an input or output that a judge reads. */
  readonly maxJudgedCharacters: number;
  readonly observer: Signals;
}

/** Spans, traces and sessions in ClickHouse. */
export interface TraceStore {
  readonly log: WriteLog & EncodedLog;
  readonly lists: Lists;
  readonly statistics: ListStatistics;
  readonly results: ExperimentResults;
  readonly traceSpans: TraceSpans;
  readonly tails: TailSource;
  readonly changes: ListChanges;
  readonly scoreChanges: ScoreChanges;
  readonly deletions: StoredSpans;
  readonly scores: Scores;
  readonly scoreRemoval: ScoreRemoval;
  readonly scoreTransfer: ScoreTransfer;
  readonly oldTraces: OldTraces;
  readonly attachments: SpanAttachments;
  readonly calculated: CalculatedSpans & PricedSpans;
  readonly partial: PartialSpans;
  readonly older: OlderSpans;
  readonly transfer: SpanTransfer;
  readonly entitySpans: EntitySpans & StoredIds;
  readonly spans: SpanReader;
  readonly wholes: WholeReader;
  readonly arrivals: Arrivals;
  readonly matching: MatchingSpans;
  readonly completions: Completions;
  readonly promptSpans: PromptSpans;
  readonly ownUsage: OwnUsage;
  readonly unpriced: UnpricedCalls;
  readonly spanBytes: SpanBytes;
  /** When the newest thing was written that was stored before the start; null: nothing was. */
  readonly newestAtStart: Micros | null;
  readonly snapshots: SpanSnapshots;
  /** Rolls up everything acknowledged, which otherwise happens by itself. @returns the version up to which all is rolled up */
  rollUp(projectId?: string): Promise<Version>;
  /** Refuses all that would change spans, while reads continue. @param refusal what writes are told; null: they are taken again */
  refuseWrites(refusal: DomainError | null): void;
  /**
   * Resolves once all that was taken is stored or refused, rolled up, and in no file of the log. @returns the version of the last write
   * @throws DomainError `unavailable` when ClickHouse does not answer
   */
  written(): Promise<Version>;
  /** Removes span versions that were replaced or deleted, which otherwise happens by itself. @returns how many. */
  purge(): Promise<number>;
  /** Removes what was written to traces before they were removed whole, which otherwise happens by itself. */
  purgeRemovedTraces(): Promise<void>;
  /** Takes what was deleted or replaced out of the files, see `Erasure`. */
  erase(signal?: AbortSignal, onProgress?: (progress: ErasureProgress) => void): Promise<ErasedFiles>;
  /** Indexes the words of all written spans for search by text, which otherwise happens by itself. */
  indexWords(): Promise<void>;
  /** Audits of what is stored that also repair it; no one may write meanwhile. */
  mendingAudits(options: Pick<SpanAuditOptions, 'extent' | 'isKnown'>): Promise<Audit[]>;
  /** Which of some spans are stored in a project, whatever their traces. */
  storedIds(projectId: string, spanIds: readonly string[]): Promise<ReadonlySet<string>>;
  /** Rejects when the store cannot be read. */
  check(): Promise<void>;
  /** Whether writes are acknowledged now, also while ClickHouse does not answer. */
  takesWrites(): boolean;
  /** Commits and rolls up everything accepted. */
  close(): Promise<void>;
}
