import { join } from 'node:path';
import type { AttachmentCatalogue } from '../../domain/attachment/catalogue.js';
import type { CompletionOpinions } from '../../domain/completions/completion-opinions.js';
import type { DeletionStore } from '../../domain/deletion/deletion-store.js';
import type { MeasurementStore } from '../../domain/disk/storage-measurements.js';
import type { FeedbackPages } from '../../domain/feedback/feedback-pages.js';
import type { FeedbackStore } from '../../domain/feedback/feedback-store.js';
import type { JudgeLookup } from '../../domain/feedback/judge-lookup.js';
import type { Verdicts } from '../../domain/trace/outline.js';
import type { UsageNames } from '../../domain/usage/own-usage.js';
import type { FeedbackItems } from '../../domain/feedback/unified.js';
import type { IdentityStore } from '../../domain/identity/identity-store.js';
import type { SignInStore } from '../../domain/identity/sign-in-store.js';
import type { JobStore } from '../../domain/job/job.js';
import type { CallNotes } from '../../domain/judge/call-notes.js';
import type { EvaluationStore } from '../../domain/judge/evaluation-store.js';
import type { JudgeCountStore } from '../../domain/judge-figures/judge-figures.js';
import type { JudgeStore } from '../../domain/judge/judge-store.js';
import type { RunStore } from '../../domain/judge/run-store.js';
import type { CorrectionStore } from '../../domain/learning/calibration/correction.js';
import type { PromotionStore } from '../../domain/learning/optimization/promotion-store.js';
import type { PriceStore } from '../../domain/price/price-store.js';
import type { ClockMemory } from '../../domain/retention/believed-clock.js';
import type { SpansWithFeedback } from '../../domain/retention/spans-with-feedback.js';
import type { PromptFeedbackCounts } from '../../domain/prompt-figures/prompt-figures.js';
import type { PromptIdentities } from '../../domain/prompt/completion.js';
import type { PromptNames } from '../../domain/span/named-prompt.js';
import type { PromptStore } from '../../domain/prompt/prompt-store.js';
import type { MetadataTransfer } from '../../domain/transfer/metadata-transfer.js';
import type { LinkStore } from '../../domain/review/link-store.js';
import { type MetadataMigrationObserver, copyBeforeUpgrade } from './upgrade-copy.js';
import { readMigrationFiles } from '../migration-files.js';
import { schemaDirectory } from '../schema-files.js';
import { SqliteAttachmentCatalogue } from './attachment-catalogue.js';
import { SqliteCallNotes } from './call-notes.js';
import { SqliteClockMemory } from './clock-memory.js';
import { SqliteCompletionOpinions } from './completion-opinions.js';
import { SqliteCorrectionStore } from './correction-store.js';
import { DATABASE_FILE, emptyLog, openDatabase, type Database } from './database.js';
import { SqliteDeletionStore } from './deletion-store.js';
import { SqliteEvaluationStore } from './evaluation-store.js';
import { SqliteFeedbackItems } from './feedback-items.js';
import { SqliteFeedbackPages, SqlitePromptFeedbackCounts } from './feedback-pages.js';
import { SqliteFeedbackStore } from './feedback-store.js';
import { SqliteIdentityStore } from './identity-store.js';
import { SqliteJobStore } from './job-store.js';
import { SqliteJudgeCounts } from './judge-counts.js';
import { SqliteJudgeLookup } from './judge-lookup.js';
import { SqliteJudgeStore } from './judge-store.js';
import { SqliteLinkStore } from './link-store.js';
import { SqliteMeasurementStore } from './measurement-store.js';
import { migrate } from './migrations.js';
import { SqlitePriceStore } from './price-store.js';
import { SqlitePromotionStore } from './promotion-store.js';
import { SqlitePromptIdentities } from './prompt-identities.js';
import { SqlitePromptStore } from './prompt-store.js';
import { SqliteRunStore } from './run-store.js';
import { readSecret } from './secrets.js';
import { SqliteSignInStore } from './sign-in-store.js';
import { SqliteSpansWithFeedback } from './spans-with-feedback.js';
import { SqliteTransferStore } from './transfer-store.js';
import { SqliteUsageNames } from './usage-names.js';
import { SqliteVerdicts } from './verdicts.js';

/** Everything that is not a span, in one SQLite file: each store once, all on one connection. */
export interface MetadataStore {
  readonly identities: IdentityStore;
  readonly signIns: SignInStore;
  readonly prompts: PromptStore;
  readonly promptIdentities: PromptIdentities & PromptNames;
  readonly prices: PriceStore;
  readonly attachments: AttachmentCatalogue;
  readonly judges: JudgeStore;
  readonly judgeCounts: JudgeCountStore;
  readonly runs: RunStore;
  readonly callNotes: CallNotes;
  readonly evaluations: EvaluationStore;
  readonly completionOpinions: CompletionOpinions;
  readonly feedback: FeedbackStore;
  readonly feedbackItems: FeedbackItems;
  readonly verdicts: Verdicts;
  readonly usageNames: UsageNames;
  readonly feedbackPages: FeedbackPages;
  readonly promptFeedback: PromptFeedbackCounts;
  readonly feedbackJudges: JudgeLookup;
  readonly links: LinkStore;
  readonly corrections: CorrectionStore;
  readonly promotions: PromotionStore;
  readonly jobs: JobStore;
  readonly spansWithFeedback: SpansWithFeedback;
  readonly deletions: DeletionStore;
  readonly measurements: MeasurementStore;
  readonly clock: ClockMemory;
  readonly transfer: MetadataTransfer;
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
export function openMetadataStore(dataDir: string, observer?: MetadataMigrationObserver): MetadataStore {
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
    attachments: new SqliteAttachmentCatalogue(database),
    judges: new SqliteJudgeStore(database, prompts),
    judgeCounts: new SqliteJudgeCounts(database),
    runs: new SqliteRunStore(database),
    callNotes: new SqliteCallNotes(database),
    evaluations: new SqliteEvaluationStore(database),
    completionOpinions: new SqliteCompletionOpinions(database),
    feedback: new SqliteFeedbackStore(database),
    feedbackItems: new SqliteFeedbackItems(database),
    verdicts: new SqliteVerdicts(database),
    usageNames: new SqliteUsageNames(database),
    feedbackPages: new SqliteFeedbackPages(database),
    promptFeedback: new SqlitePromptFeedbackCounts(database),
    feedbackJudges: new SqliteJudgeLookup(database),
    links: new SqliteLinkStore(database),
    corrections: new SqliteCorrectionStore(database),
    promotions: new SqlitePromotionStore(database),
    jobs: new SqliteJobStore(database),
    spansWithFeedback: new SqliteSpansWithFeedback(database),
    deletions: new SqliteDeletionStore(database),
    measurements: new SqliteMeasurementStore(database),
    clock: new SqliteClockMemory(database),
    transfer: new SqliteTransferStore(database),
    secret: (name) => readSecret(database, name),
    erase: () => emptyLog(database),
    check: () => void database.prepare('SELECT 1 FROM projects LIMIT 1').get(),
    close: () => void database.close(),
  };
}
