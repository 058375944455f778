import { SpanSnapshots } from './backup/span-snapshots.js';
import { storedSpanIds } from './check/stored-span-ids.js';
import { ClickHouseCalculatedSpans } from './calculated-spans.js';
import type { ClickHouseClient } from './clickhouse/client/client.js';
import { ClickHouseDeletions } from './deletions.js';
import { ClickHouseCompletions } from './completions.js';
import { ClickHouseEntitySpans } from './entity-spans.js';
import { ClickHouseExperimentResults } from './experiment/clickhouse-results.js';
import { ClickHouseMatchingSpans } from './judge/matching-spans.js';
import { ClickHouseSpanReader } from './judge/span-reader.js';
import { ClickHouseWholeReader } from './judge/whole-reader.js';
import { ClickHouseLists } from './list/clickhouse-lists.js';
import { ClickHouseStatistics } from './list/clickhouse-statistics.js';
import { ListReads } from './list/list-reads.js';
import { ClickHouseScoreChanges } from './score/score-changes.js';
import { ClickHouseChanges } from './list/changes.js';
import { ClickHouseTails } from './list/tails.js';
import { ClickHouseTraceSpans } from './list/trace-spans.js';
import { ClickHouseUnpricedCalls } from './unpriced-calls.js';
import { spanBytesReader } from './span-bytes.js';
import { ClickHouseOwnUsage } from './own-usage.js';
import { ClickHousePartialSpans } from './partial-spans.js';
import { ClickHousePromptSpans } from './prompt-spans.js';
import { ClickHouseOlderSpans } from './older-spans.js';
import { ClickHouseOldTraces } from './retention/old-traces.js';
import { openReader } from './read/row-reader.js';
import { ClickHouseSpanTransfer } from './span-transfer.js';
import { createSpanAttachments } from './span-attachments.js';
import { ClickHouseScoreRemoval } from './score/score-removal.js';
import { ClickHouseScoreTransfer } from './score/score-transfer.js';
import { ClickHouseScores } from './score/clickhouse-scores.js';
import { openTraceStoreCore } from './trace-store-core.js';
import { upkeepOf } from './trace-store-upkeep.js';
import type { TraceStore, TraceStoreOptions } from './trace-store.js';

/**
 * Opens the store, up to date and recovered.
 * @throws MigrationError; DomainError when ClickHouse does not answer.
 */
export async function openTraceStore(client: ClickHouseClient, options: TraceStoreOptions): Promise<TraceStore> {
  const { observer } = options;
  const core = await openTraceStoreCore(client, options);
  const { log, reads, rollups, governor, news, arrivals, words, indexer, purge, writes } = core;
  const { settled, settle, settleMany, newestAtStart, marked, newestScores } = core;
  const notCurrent = (projectId: string) => rollups.notCurrent(projectId);
  const hasMarked = (projectId: string) => marked.has(projectId);
  const state = { reads, notCurrent, hasMarked };
  const listReads = new ListReads({ client, ...state, words, newestScores, limits: options.read, observer });
  const partial = new ClickHousePartialSpans({ client, log, reads, writes, limits: options.read });
  const revised = { reader: openReader(client, options.read), log, reads };
  return {
    log,
    lists: new ClickHouseLists(listReads),
    statistics: new ClickHouseStatistics(listReads),
    results: new ClickHouseExperimentResults(client, state, options.read),
    traceSpans: new ClickHouseTraceSpans(client, state, options.read),
    tails: new ClickHouseTails({
      client,
      ...state,
      limits: options.read,
      commits: news,
      acknowledged: () => writes.acknowledged,
    }),
    changes: new ClickHouseChanges({
      client,
      ...state,
      limits: options.read,
      acknowledged: () => writes.acknowledged,
    }),
    scoreChanges: new ClickHouseScoreChanges({
      client,
      ...state,
      limits: options.read,
      acknowledged: () => writes.acknowledged,
    }),
    deletions: new ClickHouseDeletions({
      client,
      log,
      settle,
      settleMany,
      reads,
      governor,
      indexer,
      forgetAside: (projectId) => rollups.forget(projectId),
      forgetPartial: (projectId) => partial.forgetProject(projectId),
      forgetNewestScores: (projectId) => newestScores.forgetProject(projectId),
      stale: (projectId) => rollups.notCurrent(projectId).stale,
      purgeWritten: () => purge.written(),
      deleted: () => purge.soon(),
    }),
    scores: new ClickHouseScores({ client, log, reads, limits: options.read }),
    scoreRemoval: new ClickHouseScoreRemoval({ client, log, reads, deleted: () => purge.soon() }),
    scoreTransfer: new ClickHouseScoreTransfer(revised),
    oldTraces: new ClickHouseOldTraces({ client, log, reads, limits: options.read }),
    attachments: createSpanAttachments(client, reads, options.read),
    calculated: new ClickHouseCalculatedSpans(revised),
    partial,
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
    wholes: new ClickHouseWholeReader({
      client,
      state,
      limits: options.read,
      maxCharacters: options.maxJudgedCharacters,
    }),
    arrivals,
    matching: new ClickHouseMatchingSpans(client, reads, options.read),
    completions: new ClickHouseCompletions(client, reads, options.read),
    promptSpans: new ClickHousePromptSpans(client, reads, options.read),
    ownUsage: new ClickHouseOwnUsage(client, reads, options.read),
    unpriced: new ClickHouseUnpricedCalls(client, reads, options.read),
    spanBytes: spanBytesReader(client, options.read),
    newestAtStart,
    snapshots: new SpanSnapshots({ client, log, reads, committed: () => writes.acknowledged }),
    ...upkeepOf(client, core),
    storedIds: (projectId, spanIds) => storedSpanIds(client, projectId, spanIds),
  };
}
