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
import { openTraceStoreCore, type TraceStoreCore } from './trace-store-core.js';
import { upkeepOf } from './trace-store-upkeep.js';
import type { TraceStore, TraceStoreOptions } from './trace-store.js';

/**
 * Opens the store, up to date and recovered.
 * @throws MigrationError; DomainError when ClickHouse does not answer.
 */
export async function openTraceStore(client: ClickHouseClient, options: TraceStoreOptions): Promise<TraceStore> {
  const core = await openTraceStoreCore(client, options);
  const { log, reads, arrivals, purge, writes, settled, newestAtStart } = core;
  const limits = options.read;
  const partial = new ClickHousePartialSpans({ client, log, reads, writes, limits });
  const revised = { reader: openReader(client, limits), log, reads };
  return {
    log,
    ...listsOf(client, core, options),
    deletions: deletionsOf(client, core, partial),
    scores: new ClickHouseScores({ client, log, reads, limits }),
    scoreRemoval: new ClickHouseScoreRemoval({ client, log, reads, deleted: () => purge.soon() }),
    scoreTransfer: new ClickHouseScoreTransfer(revised),
    oldTraces: new ClickHouseOldTraces({ client, log, reads, limits }),
    attachments: createSpanAttachments(client, reads, limits),
    calculated: new ClickHouseCalculatedSpans(revised),
    partial,
    older: new ClickHouseOlderSpans(client, revised),
    transfer: new ClickHouseSpanTransfer(revised),
    entitySpans: new ClickHouseEntitySpans(client, reads, limits),
    spans: new ClickHouseSpanReader({ client, reads, settled, limits, maxCharacters: options.maxJudgedCharacters }),
    arrivals,
    matching: new ClickHouseMatchingSpans(client, reads, limits),
    completions: new ClickHouseCompletions(client, reads, limits),
    promptSpans: new ClickHousePromptSpans(client, reads, limits),
    ownUsage: new ClickHouseOwnUsage(client, reads, limits),
    unpriced: new ClickHouseUnpricedCalls(client, reads, limits),
    spanBytes: spanBytesReader(client, limits),
    newestAtStart,
    snapshots: new SpanSnapshots({ client, log, reads, committed: () => writes.acknowledged }),
    ...upkeepOf(client, core),
    storedIds: (projectId, spanIds) => storedSpanIds(client, projectId, spanIds),
  };
}

/** What reads lists, or what a list has: figures that no round has stored yet are computed at read. */
function listsOf(client: ClickHouseClient, core: TraceStoreCore, { read: limits, ...options }: TraceStoreOptions) {
  const { reads, rollups, news, words, writes, marked, newestScores } = core;
  const state = {
    reads,
    notCurrent: (projectId: string) => rollups.notCurrent(projectId),
    hasMarked: (projectId: string) => marked.has(projectId),
  };
  const listReads = new ListReads({ client, ...state, words, newestScores, limits, observer: options.observer });
  const changed = { client, ...state, limits, acknowledged: () => writes.acknowledged };
  return {
    lists: new ClickHouseLists(listReads),
    statistics: new ClickHouseStatistics(listReads),
    results: new ClickHouseExperimentResults(client, state, limits),
    traceSpans: new ClickHouseTraceSpans(client, state, limits),
    tails: new ClickHouseTails({ ...changed, commits: news }),
    changes: new ClickHouseChanges(changed),
    scoreChanges: new ClickHouseScoreChanges(changed),
    wholes: new ClickHouseWholeReader({ client, state, limits, maxCharacters: options.maxJudgedCharacters }),
  };
}

function deletionsOf(client: ClickHouseClient, core: TraceStoreCore, partial: ClickHousePartialSpans) {
  const { log, reads, rollups, governor, indexer, purge, settle, settleMany, newestScores } = core;
  return new ClickHouseDeletions({
    ...{ client, log, settle, settleMany, reads, governor, indexer },
    forgetAside: (projectId) => rollups.forget(projectId),
    forgetPartial: (projectId) => partial.forgetProject(projectId),
    forgetNewestScores: (projectId) => newestScores.forgetProject(projectId),
    stale: (projectId) => rollups.notCurrent(projectId).stale,
    purgeWritten: () => purge.written(),
    deleted: () => purge.soon(),
  });
}
