import type { AuditTrail } from '../features/audit/audit-trail.js';
import type { AttachmentService } from '../features/images/attachment-service.js';
import type { RowFiles } from '../features/images/row-files.js';
import type { ImageUploads } from '../features/images/uploads.js';
import type { DeletionService } from '../features/deletion/deletion-service.js';
import type { ScheduleService } from '../features/scheduled-exports/schedule-service.js';
import type { SelectedDeletionService } from '../features/deletion/selected-deletion-service.js';
import { IdentityService } from '../engine/identity/identity-service.js';
import { InvitationService } from '../engine/identity/invitation-service.js';
import { OwnSessions } from '../engine/identity/own-sessions.js';
import { RevokedKeys } from '../engine/identity/revoked-keys.js';
import { SignInService } from '../engine/identity/sign-in-service.js';
import type { Micros } from '../engine/timestamp.js';
import { Tails } from '../engine/traces/model/list/tail.js';
import { Exports } from '../features/exports/exports.js';
import type { Lists } from '../engine/traces/model/list/lists.js';
import type { WholeReader } from '../engine/traces/model/judged/whole-reader.js';
import type { ListStatistics } from '../engine/traces/model/list/statistics.js';
import { CostExplainer } from '../features/prices/cost-explanation.js';
import { Maskers } from '../features/masking/maskers.js';
import { MaskingService } from '../features/masking/masking-service.js';
import { MaskingTest } from '../features/masking/masking-test.js';
import { PriceService } from '../features/prices/price-service.js';
import { PromptService } from '../features/prompts/prompt-service.js';
import { createListPrices } from '../engine/traces/model/span/pricing.js';
import { OutlineService } from '../engine/traces/model/trace/outline.js';
import { UnpricedModels } from '../features/prices/unpriced-models.js';
import type { MonitorService } from '../features/monitors/monitor-service.js';
import type { WebhookService } from '../features/webhooks/webhook-service.js';
import type { ComparisonService } from '../features/comparisons/comparison-service.js';
import { ScoreService } from '../features/scores/score-service.js';
import { ProjectService } from '../features/projects/project-service.js';
import type { ProjectStorage } from '../features/projects/project-storage.js';
import type { RetentionService } from '../features/retention/retention-service.js';
import type { TransferService } from '../features/transfer/transfer-service.js';
import type { ModelBudgets } from '../features/budget/model-budgets.js';
import { OwnUsageService } from '../features/usage/own-usage.js';
import type { ReadinessCheck } from '../http/operations/readiness.js';
import { openAttachments } from './attachments.js';
import { openBackups } from './backup.js';
import type { Context } from './context.js';
import { openComparisons } from './comparisons.js';
import { openDashboards, type Dashboards } from './dashboards.js';
import { openDatasets, type Datasets } from './datasets.js';
import { openDeletions } from './deletion.js';
import { openExperiments, type Experiments } from './experiments.js';
import { openErasure } from './erasure.js';
import { openFeedback, type Feedback } from './feedback.js';
import { openIngest, type Ingest } from './ingest.js';
import { openJudges, type Judges } from './judges.js';
import { openExamples, openLearning, type Learning } from './learning.js';
import { openBudgets, openModels } from './models.js';
import { openMonitors, openWebhooks } from './monitors.js';
import { Moves } from './moves.js';
import { openPlayground, type Playground } from './playground.js';
import { openAuditUpkeep, openClock, openRetention } from './retention.js';
import { openScheduledExports } from './scheduled-exports.js';
import { openSharing, type Sharing } from './sharing.js';
import { openSelectedDeletions } from './selected-deletions.js';
import { openSingleSignOn, type SingleSignOn } from './single-sign-on.js';
import { openTransfer } from './transfer.js';
import { openProjectStorage, openStorage, type Storage } from './storage.js';

const INSTALLATION = 'installation';
const MINUTE: Micros = 60 * 1e6;

/** The services of all features, made once, for routes, OTLP and jobs. */
export interface Services
  extends
    Ingest,
    Omit<Judges, 'work'>,
    Omit<Learning, 'work'>,
    Omit<Playground, 'work'>,
    Feedback,
    Sharing,
    Datasets,
    Dashboards,
    Omit<Experiments, 'work'> {
  readonly identity: IdentityService;
  readonly signIns: SignInService;
  readonly ownSessions: OwnSessions;
  readonly invitations: InvitationService;
  readonly singleSignOn: SingleSignOn;
  /** Tells this installation's cookies from those of others on the same host. */
  readonly installation: string;
  readonly prompts: PromptService;
  readonly prices: PriceService;
  readonly masking: MaskingService;
  readonly maskingTest: MaskingTest;
  readonly unpriced: UnpricedModels;
  readonly scores: ScoreService;
  readonly comparisons: ComparisonService;
  readonly lists: Lists;
  readonly statistics: ListStatistics;
  readonly outlines: OutlineService;
  readonly texts: Pick<WholeReader, 'readWholes'>;
  readonly costs: CostExplainer;
  readonly tails: Tails;
  readonly exports: Exports;
  readonly schedules: ScheduleService;
  readonly monitors: MonitorService;
  readonly webhooks: WebhookService;
  readonly audit: AuditTrail;
  readonly ownUsage: OwnUsageService;
  readonly budgets: ModelBudgets;
  readonly attachments: AttachmentService;
  readonly uploads: ImageUploads;
  readonly rowFiles: RowFiles;
  readonly deletions: DeletionService;
  readonly selectedDeletions: SelectedDeletionService;
  readonly projects: ProjectService;
  readonly projectStorage: ProjectStorage;
  readonly retention: RetentionService;
  readonly transfer: TransferService;
  readonly checks: readonly ReadinessCheck[];
}

/**
 * Opens the parts of the server, each after what it needs, and starts their work in the background.
 * @throws what `openStorage` does
 */
export async function openServices(context: Context): Promise<Services> {
  const storage: Storage = await openStorage(context, {
    // Made below: nothing is written and nothing purged before.
    isGone: (projectId) => identity.isGone(projectId),
    onPurged: (versions) => attachments.purged(versions),
  });
  const identity: IdentityService = openIdentity(context, storage);
  const attachments = openAttachments(context, storage);
  const { metadata, traces, audit } = storage;
  const prices = new PriceService({ store: metadata.prices, listPrices: createListPrices(), audit });
  const { price, modelName } = prices;
  const { service: webhooks, start: startWebhooks } = openWebhooks(context, storage);
  const { announce } = webhooks;
  const budgets = openBudgets(context, storage, announce);
  const maskers = new Maskers(metadata.masking);
  const prompts = new PromptService({
    store: metadata.prompts,
    modelName,
    observer: context.events,
    audit,
    announce,
  });
  // Before anything else reads: what was deleted before a crash is shown to nobody after it.
  const deletions = await openDeletions(context, storage, {
    images: attachments.vault,
    onProjectOrdered(projectId) {
      identity.projectGone(projectId);
      prices.forget(projectId);
      maskers.forget(projectId);
      budgets.forget(projectId);
      context.events.projectSeriesEnded(projectId);
      prompts.forget();
    },
  });
  context.events.projectSeriesOpened(context.config.projectSeries, (projectId) => identity.isGone(projectId));
  const erasure = openErasure(context, storage);
  const ingest = openIngest(context, storage, { prices, maskers, attachments });
  const examples = openExamples(context, storage);
  const models = await openModels(context, storage, { ingest: ingest.spans, price, examples, budgets });
  const { work: judgeWork, ...judges } = openJudges(context, storage, {
    ...{ prompts, models, price, examples },
    masker: maskers.of,
  });
  const { work: learningWork, ...learning } = openLearning(context, storage, { prompts, models, price, examples });
  const { work: playgroundWork, ...playground } = openPlayground(context, storage, { prompts, models, price });
  const moves = new Moves(context, storage);
  const datasets = openDatasets(context, storage);
  const scores = new ScoreService({
    log: traces.log,
    scores: traces.scores,
    definitions: metadata.scoreDefinitions,
    masker: maskers.of,
    describe: (principal) => identity.describe(principal),
    audit,
  });
  const { work: experimentWork, ...experiments } = openExperiments(context, storage, {
    ...{ ingest: ingest.spans, datasets: datasets.datasets, deletions, scores, prompts, models, price },
  });
  const comparisons = openComparisons(context, storage, announce);
  const dashboards = openDashboards(storage);
  const modelWork = [...judgeWork, ...learningWork, ...playgroundWork];
  deletions.start([...modelWork, ...[datasets.spanRows, ...experimentWork, comparisons]]);
  // After what work has in memory of spans can be given up.
  const clock = openClock(context, storage);
  const retention = openRetention(context, storage, { deletions, identity, clock });
  openAuditUpkeep(context, storage, clock);
  const selectedDeletions = openSelectedDeletions(context, storage, { deletions, identity });
  const people = openSignIns(context, storage, identity);
  const installation = metadata.secret(INSTALLATION).toString('hex').slice(0, 12);
  const feedback = openFeedback(context, storage, {
    attachments: attachments.service,
    announce,
    masker: maskers.of,
  });
  const outlines = new OutlineService({ spans: traces.traceSpans, verdicts: metadata.verdicts, lists: traces.lists });
  await openBackups(context, storage, { moves, erasure, retention });
  startWebhooks(identity);
  return {
    ...ingest,
    ...judges,
    ...learning,
    ...playground,
    ...feedback,
    ...openSharing(context, storage, { attachments: attachments.service, outlines, masker: maskers.of }),
    ...datasets,
    ...experiments,
    ...dashboards,
    comparisons,
    identity,
    ...people,
    installation,
    singleSignOn: openSingleSignOn(context, storage, { identity, signIns: people.signIns, installation }),
    prompts,
    prices,
    masking: new MaskingService({ store: metadata.masking, maskers, audit }),
    maskingTest: new MaskingTest({ lists: traces.lists, store: metadata.masking }),
    unpriced: new UnpricedModels(traces.unpriced, price),
    scores,
    lists: traces.lists,
    statistics: traces.statistics,
    tails: new Tails(traces.tails),
    exports: new Exports(audit),
    schedules: openScheduledExports(context, storage, identity, feedback.feedbackLists),
    audit,
    monitors: openMonitors(context, storage, { announce, identity }),
    webhooks,
    costs: new CostExplainer(prices, traces.calculated),
    outlines,
    texts: traces.wholes,
    ownUsage: new OwnUsageService(traces.ownUsage, metadata.usageNames),
    budgets,
    attachments: attachments.service,
    uploads: attachments.uploads,
    rowFiles: attachments.rowFiles,
    deletions,
    selectedDeletions,
    projects: new ProjectService(metadata.identities, audit),
    projectStorage: openProjectStorage(context, storage),
    retention,
    transfer: openTransfer(context, storage, {
      masker: maskers.of,
      attachments,
      deletions,
      ...dashboards,
      onImported(projectId) {
        prices.forget(projectId);
        prompts.forget();
      },
      onRead: (projectId) => datasets.datasets.closeVersions(projectId),
    }),
    checks: [
      { name: 'sqlite', check: () => metadata.check() },
      { name: 'clickhouse', check: () => traces.check(), degrades: () => traces.takesWrites() },
      { name: 'disk', check: () => storage.watermark.check(), degrades: () => true },
      { name: 'move', check: () => moves.check(), degrades: () => true },
    ],
  };
}

function openIdentity({ config, closers, events }: Context, { metadata, audit }: Storage): IdentityService {
  const identity = new IdentityService({
    store: metadata.identities,
    audit,
    onRecordFailed: (error) => events.keyUseNotRecorded({ error }),
  });
  closers.push(() => identity.close());
  const revoked = new RevokedKeys({
    store: metadata.identities,
    initKey: config.init.apiKey,
    onFailed: (error) => events.revokedKeysNotRemoved({ error }),
  });
  closers.push(() => revoked.close());
  return identity;
}

function openSignIns({ config, overrides, events }: Context, { metadata, audit }: Storage, identity: IdentityService) {
  const parts = { store: metadata.signIns, identity, ...overrides.signIns, audit };
  const signIns = new SignInService({
    ...parts,
    externalOnly: config.signIns.externalOnly,
    lasts: { idle: config.signIns.idleMinutes * MINUTE, total: config.signIns.hours * 60 * MINUTE },
    onRecordFailed: (error) => events.signInUseNotRecorded({ error }),
    onUpkeepFailed: (signIn, error) => events.signInsNotRemoved({ signIn, error }),
  });
  return { signIns, ownSessions: new OwnSessions(parts), invitations: new InvitationService({ ...parts, signIns }) };
}
