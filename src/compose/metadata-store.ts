import { join } from 'node:path';
import type { AttachmentCatalog } from '../features/images/catalog.js';
import type { CompletionOpinions } from '../features/completions/completion-opinions.js';
import type { DeletionStore } from '../features/deletion/deletion-store.js';
import type { MeasurementStore } from '../engine/disk/storage-measurements.js';
import type { FeedbackPages } from '../features/feedback/feedback-pages.js';
import type { CountedOpinions, MonitorStore } from '../features/monitors/monitor.js';
import { SqliteCountedOpinions } from '../features/monitors/store/counted-opinions.js';
import { SqliteMonitorStore } from '../features/monitors/store/monitor-store.js';
import type { DashboardStore } from '../features/dashboards/dashboard.js';
import { openDashboards } from '../features/dashboards/store/dashboard-store.js';
import type { SavedViewStore } from '../features/saved-views/saved-view.js';
import { openSavedViews } from '../features/saved-views/store/saved-view-store.js';
import type { WebhookStore } from '../features/webhooks/webhook.js';
import { SqliteWebhookStore } from '../features/webhooks/store/webhook-store.js';
import type { ScheduleStore } from '../features/scheduled-exports/schedule.js';
import type { MaskingStore } from '../features/masking/rule.js';
import { SqliteScheduleStore } from '../features/scheduled-exports/store/schedule-store.js';
import { SqliteMaskingStore } from '../features/masking/store/masking-store.js';
import type { FeedbackStore } from '../features/feedback/feedback-store.js';
import type { JudgeLookup } from '../features/feedback/judge-lookup.js';
import type { Verdicts } from '../engine/traces/model/trace/outline.js';
import type { BudgetStore } from '../features/budget/budget.js';
import { SqliteBudgetStore } from '../features/budget/store/budget-store.js';
import type { UsageNames } from '../features/usage/own-usage.js';
import type { FeedbackItems } from '../features/feedback/unified.js';
import type { IdentityStore } from '../engine/identity/identity-store.js';
import type { SignInStore } from '../engine/identity/sign-in-store.js';
import type { JobStore } from '../engine/work/job.js';
import type { CallNotes } from '../features/judges/call-notes.js';
import type { EvaluationStore } from '../features/judges/evaluation-store.js';
import type { JudgeCountStore } from '../features/judge-figures/judge-figures.js';
import type { JudgeStore } from '../features/judges/judge-store.js';
import type { PinStore } from '../features/judges/pin.js';
import type { RunStore } from '../features/judges/run-store.js';
import type { CorrectionStore } from '../features/calibration/correction.js';
import type { PromotionStore } from '../features/optimization/promotion-store.js';
import type { PriceStore } from '../features/prices/price-store.js';
import type { DefinitionStore } from '../features/scores/definition.js';
import type { ClockMemory } from '../features/retention/believed-clock.js';
import type { SpansWithFeedback } from '../features/retention/spans-with-feedback.js';
import type { PromptFeedbackCounts } from '../features/prompts/prompt-figures.js';
import type { PromptIdentities } from '../engine/traces/model/prompts/completion.js';
import type { PromptNames } from '../engine/traces/model/span/named-prompt.js';
import type { PromptStore } from '../features/prompts/prompt-store.js';
import type { MetadataTransfer } from '../features/transfer/metadata-transfer.js';
import type { CommentStore } from '../features/comments/comment.js';
import { SqliteCommentStore } from '../features/comments/store/comment-store.js';
import type { ShareStore } from '../features/sharing/share-link.js';
import { SqliteShareStore } from '../features/sharing/store/share-store.js';
import type { DeletionsUnderWay } from '../features/traces/beside-traces.js';
import type { LinkStore } from '../features/review/link-store.js';
import { copyBeforeUpgrade } from '../engine/metadata/upgrade-copy.js';
import type { Signals } from '../engine/signals/signals.js';
import { readMigrationFiles } from '../engine/files/migration-files.js';
import { schemaDirectory } from '../engine/files/schema-files.js';
import type { AuditStore } from '../features/audit/audit-entry.js';
import { SqliteAuditStore } from '../features/audit/store/audit-store.js';
import { SqliteAttachmentCatalog } from '../features/images/store/attachment-catalog.js';
import { SqliteCallNotes } from '../features/judges/store/call-notes.js';
import { SqliteClockMemory } from '../features/retention/store/clock-memory.js';
import { SqliteCompletionOpinions } from '../features/completions/store/completion-opinions.js';
import { SqliteCorrectionStore } from '../features/calibration/store/correction-store.js';
import { DATABASE_FILE, emptyLog, openDatabase, transact, type Database } from '../engine/metadata/database.js';
import { SqliteDeletionStore } from '../features/deletion/store/deletion-store.js';
import { SqliteEvaluationStore } from '../features/judges/store/evaluation-store.js';
import { SqliteFeedbackItems } from '../features/feedback/store/feedback-items.js';
import { SqliteFeedbackPages, SqlitePromptFeedbackCounts } from '../features/feedback/store/feedback-pages.js';
import { SqliteFeedbackStore } from '../features/feedback/store/feedback-store.js';
import { SqliteIdentityStore } from '../engine/identity/store/identity-store.js';
import { SqliteJobStore } from '../engine/work/store/job-store.js';
import { SqliteJudgeCounts } from '../features/judge-figures/store/judge-counts.js';
import { SqliteJudgeLookup } from '../features/feedback/store/judge-lookup.js';
import { SqliteJudgeStore } from '../features/judges/store/judge-store.js';
import { SqliteLinkStore } from '../features/review/store/link-store.js';
import { SqliteMeasurementStore } from '../engine/disk/store/measurement-store.js';
import { migrate } from '../engine/metadata/migrations.js';
import { SqlitePriceStore } from '../features/prices/store/price-store.js';
import { SqlitePromotionStore } from '../features/optimization/store/promotion-store.js';
import { SqlitePromptIdentities } from '../features/prompts/store/prompt-identities.js';
import { SqlitePromptStore } from '../features/prompts/store/prompt-store.js';
import { SqlitePinStore } from '../features/judges/store/pin-store.js';
import { SqliteRunStore } from '../features/judges/store/run-store.js';
import type { DatasetStore, RowReads, RowStaging } from '../features/datasets/dataset.js';
import type { ExperimentStore, ScoringStore } from '../features/experiments/experiment.js';
import type { ComparisonStore } from '../features/comparisons/comparison-store.js';
import { SqliteComparisonStore } from '../features/comparisons/store/comparison-store.js';
import { SqliteExperimentStore } from '../features/experiments/store/experiment-store.js';
import { SqliteScoringStore } from '../features/experiments/store/scoring-store.js';
import type { ExpectedOutputs } from '../features/feedback/expected-outputs.js';
import { SqliteExpectedOutputs } from '../features/feedback/store/expected-outputs.js';
import { SqliteDatasetStore } from '../features/datasets/store/dataset-store.js';
import { SqliteRowReads } from '../features/datasets/store/row-reads.js';
import { SqliteRowStaging } from '../features/datasets/store/row-staging.js';
import { SqliteDefinitionStore } from '../features/scores/store/definition-store.js';
import { deletionsUnderWay, lastDeletionOf } from '../engine/metadata/deletion-numbers.js';
import { readSecret } from '../engine/metadata/secrets.js';
import { SqliteSignInStore } from '../engine/identity/store/sign-in-store.js';
import { SqliteSpansWithFeedback } from '../features/retention/store/spans-with-feedback.js';
import { SqliteTransferStore } from '../features/transfer/store/transfer-store.js';
import { SqliteUsageNames } from '../features/usage/store/usage-names.js';
import { SqliteVerdicts } from '../features/judges/store/verdicts.js';

/** Everything that is not a span, in one SQLite file: each store once, all on one connection. */
export interface MetadataStore {
  readonly identities: IdentityStore;
  readonly signIns: SignInStore;
  readonly prompts: PromptStore;
  readonly promptIdentities: PromptIdentities & PromptNames;
  readonly prices: PriceStore;
  readonly scoreDefinitions: DefinitionStore;
  readonly datasets: DatasetStore;
  readonly datasetRows: RowReads;
  readonly datasetStaging: RowStaging;
  readonly experiments: ExperimentStore;
  readonly experimentScoring: ScoringStore;
  readonly comparisons: ComparisonStore;
  readonly expectedOutputs: ExpectedOutputs;
  /** The number of the deletion that was ordered last. */
  lastDeletion(): number;
  /** The deletions of a project that are not completed. */
  deletionsUnderWay(projectId: string): DeletionsUnderWay;
  readonly attachments: AttachmentCatalog;
  readonly judges: JudgeStore;
  readonly judgeCounts: JudgeCountStore;
  readonly runs: RunStore;
  readonly callNotes: CallNotes;
  readonly pins: PinStore;
  readonly evaluations: EvaluationStore;
  readonly completionOpinions: CompletionOpinions;
  readonly feedback: FeedbackStore;
  readonly feedbackItems: FeedbackItems;
  readonly verdicts: Verdicts;
  readonly usageNames: UsageNames;
  readonly budgets: BudgetStore;
  readonly feedbackPages: FeedbackPages;
  readonly schedules: ScheduleStore;
  readonly monitors: MonitorStore;
  readonly countedOpinions: CountedOpinions;
  readonly webhooks: WebhookStore;
  readonly savedViews: SavedViewStore;
  readonly dashboards: DashboardStore;
  readonly masking: MaskingStore;
  readonly audit: AuditStore;
  readonly promptFeedback: PromptFeedbackCounts;
  readonly feedbackJudges: JudgeLookup;
  readonly links: LinkStore;
  readonly comments: CommentStore;
  readonly shares: ShareStore;
  readonly corrections: CorrectionStore;
  readonly promotions: PromotionStore;
  readonly jobs: JobStore;
  readonly spansWithFeedback: SpansWithFeedback;
  readonly deletions: DeletionStore;
  readonly measurements: MeasurementStore;
  readonly clock: ClockMemory;
  readonly transfer: MetadataTransfer;
  /** Stores all that is stored meanwhile, or nothing of it. @throws what `store` throws; DomainError `unavailable` */
  together<T>(store: () => T): T;
  /** A random secret of 32 bytes, made when it is first asked for and the same from then on. */
  secret(name: string): Buffer;
  /** Takes what was deleted out of the write-ahead log, too. @throws DomainError `unavailable` while another process reads there */
  erase(): void;
  /** Throws when the store cannot serve. */
  check(): void;
  close(): void;
}

/**
 * Opens (and creates) the metadata of a `DATA_DIR` and brings its schema up to date, keeping a copy of what it was. A server
 * may have the file open, too.
 * @throws MigrationError, SqliteError: nothing is left open then
 */
export function openMetadataStore(dataDir: string, observer?: Pick<Signals, 'metadataMigrationBegins'>): MetadataStore {
  const database = openDatabase(metadataFile(dataDir));
  try {
    migrate(database, readMigrationFiles(schemaDirectory('sqlite')), (missing) => {
      copyBeforeUpgrade(database, missing, observer);
    });
    return storesOn(database);
  } catch (error) {
    database.close();
    throw error;
  }
}

/** Where the metadata of a `DATA_DIR` is; it need not be there yet. */
export function metadataFile(dataDir: string): string {
  return join(dataDir, DATABASE_FILE);
}

function storesOn(database: Database): MetadataStore {
  const prompts = new SqlitePromptStore(database);
  return {
    identities: new SqliteIdentityStore(database),
    signIns: new SqliteSignInStore(database),
    prompts,
    promptIdentities: new SqlitePromptIdentities(database),
    prices: new SqlitePriceStore(database),
    scoreDefinitions: new SqliteDefinitionStore(database),
    datasets: new SqliteDatasetStore(database),
    datasetRows: new SqliteRowReads(database),
    datasetStaging: new SqliteRowStaging(database),
    experiments: new SqliteExperimentStore(database),
    experimentScoring: new SqliteScoringStore(database),
    comparisons: new SqliteComparisonStore(database),
    expectedOutputs: new SqliteExpectedOutputs(database),
    lastDeletion: lastDeletionOf(database),
    deletionsUnderWay: deletionsUnderWay(database),
    attachments: new SqliteAttachmentCatalog(database),
    judges: new SqliteJudgeStore(database, prompts),
    judgeCounts: new SqliteJudgeCounts(database),
    runs: new SqliteRunStore(database),
    callNotes: new SqliteCallNotes(database),
    pins: new SqlitePinStore(database),
    evaluations: new SqliteEvaluationStore(database),
    completionOpinions: new SqliteCompletionOpinions(database),
    feedback: new SqliteFeedbackStore(database),
    feedbackItems: new SqliteFeedbackItems(database),
    verdicts: new SqliteVerdicts(database),
    usageNames: new SqliteUsageNames(database),
    budgets: new SqliteBudgetStore(database),
    feedbackPages: new SqliteFeedbackPages(database),
    schedules: new SqliteScheduleStore(database),
    monitors: new SqliteMonitorStore(database),
    countedOpinions: new SqliteCountedOpinions(database),
    webhooks: new SqliteWebhookStore(database),
    savedViews: openSavedViews(database),
    dashboards: openDashboards(database),
    masking: new SqliteMaskingStore(database),
    audit: new SqliteAuditStore(database),
    promptFeedback: new SqlitePromptFeedbackCounts(database),
    feedbackJudges: new SqliteJudgeLookup(database),
    links: new SqliteLinkStore(database),
    comments: new SqliteCommentStore(database),
    shares: new SqliteShareStore(database),
    corrections: new SqliteCorrectionStore(database),
    promotions: new SqlitePromotionStore(database),
    jobs: new SqliteJobStore(database),
    spansWithFeedback: new SqliteSpansWithFeedback(database),
    deletions: new SqliteDeletionStore(database),
    measurements: new SqliteMeasurementStore(database),
    clock: new SqliteClockMemory(database),
    transfer: new SqliteTransferStore(database),
    together: (store) => transact(database, store),
    secret: (name) => readSecret(database, name),
    erase: () => emptyLog(database),
    check: () => void database.prepare('SELECT 1 FROM projects LIMIT 1').get(),
    close: () => void database.close(),
  };
}
