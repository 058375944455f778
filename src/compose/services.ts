import type { AuditTrail } from '../features/audit/audit-trail.js';
import type { AttachmentService } from '../features/images/attachment-service.js';
import type { RowFiles } from '../features/images/row-files.js';
import type { ImageUploads } from '../features/images/uploads.js';
import type { DeletionService } from '../features/deletion/deletion-service.js';
import type { ScheduleService } from '../features/scheduled-exports/schedule-service.js';
import type { SelectedDeletionService } from '../features/deletion/selected-deletion-service.js';
import type { IdentityService } from '../engine/identity/identity-service.js';
import type { InvitationService } from '../engine/identity/invitation-service.js';
import type { OwnSessions } from '../engine/identity/own-sessions.js';
import type { SignInService } from '../engine/identity/sign-in-service.js';
import { Tails } from '../engine/traces/model/list/tail.js';
import { Exports } from '../features/exports/exports.js';
import type { Lists } from '../engine/traces/model/list/lists.js';
import type { WholeReader } from '../engine/traces/model/judged/whole-reader.js';
import type { ListStatistics } from '../engine/traces/model/list/statistics.js';
import { CostExplainer } from '../features/prices/cost-explanation.js';
import { Maskers, type MaskerOf } from '../features/masking/maskers.js';
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
import { openIdentity, openSignIns } from './identity.js';
import { openIngest, type Ingest } from './ingest.js';
import { openJudges, type Judges } from './judges.js';
import { openExamples, openLearning, type Learning } from './learning.js';
import { openBudgets, openModels, type ModelParts } from './models.js';
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
  const asking = await openModelFeatures(context, storage, {
    ...{ ingest: ingest.spans, price, prompts, budgets },
    masker: maskers.of,
  });
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
    ...{ ingest: ingest.spans, datasets: datasets.datasets, deletions, scores, prompts, models: asking.models, price },
  });
  const comparisons = openComparisons(context, storage, announce);
  const dashboards = openDashboards(storage);
  deletions.start([...asking.work, ...[datasets.spanRows, ...experimentWork, comparisons]]);
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
    ...asking.services,
    ...feedback,
    ...openSharing(context, storage, { attachments: attachments.service, outlines, masker: maskers.of }),
    ...datasets,
    ...experiments,
    ...dashboards,
    ...simpleServices(storage, { prices, maskers }),
    comparisons,
    identity,
    ...people,
    installation,
    singleSignOn: openSingleSignOn(context, storage, { identity, signIns: people.signIns, installation }),
    prompts,
    prices,
    scores,
    schedules: openScheduledExports(context, storage, identity, feedback.feedbackLists),
    audit,
    monitors: openMonitors(context, storage, { announce, identity }),
    webhooks,
    outlines,
    budgets,
    attachments: attachments.service,
    uploads: attachments.uploads,
    rowFiles: attachments.rowFiles,
    deletions,
    selectedDeletions,
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
    checks: readinessChecks(storage, moves),
  };
}

interface ModelFeatureParts extends Omit<ModelParts, 'examples'> {
  readonly prompts: PromptService;
  readonly masker: MaskerOf;
}

/** Opens what asks models. Its `work` holds texts of spans, which deletions have it give up. */
async function openModelFeatures(context: Context, storage: Storage, { prompts, masker, ...parts }: ModelFeatureParts) {
  const examples = openExamples(context, storage);
  const models = await openModels(context, storage, { ...parts, examples });
  const asking = { prompts, models, price: parts.price, examples };
  const { work: judgeWork, ...judges } = openJudges(context, storage, { ...asking, masker });
  const { work: learningWork, ...learning } = openLearning(context, storage, asking);
  const { work: playgroundWork, ...playground } = openPlayground(context, storage, asking);
  return {
    models,
    services: { ...judges, ...learning, ...playground },
    work: [...judgeWork, ...learningWork, ...playgroundWork],
  };
}

/** Services that need no more than the stores: they have nothing to start, and nothing to end. */
function simpleServices(
  { metadata, traces, audit }: Storage,
  { prices, maskers }: { readonly prices: PriceService; readonly maskers: Maskers },
) {
  return {
    lists: traces.lists,
    statistics: traces.statistics,
    texts: traces.wholes,
    tails: new Tails(traces.tails),
    exports: new Exports(audit),
    costs: new CostExplainer(prices, traces.calculated),
    unpriced: new UnpricedModels(traces.unpriced, prices.price),
    masking: new MaskingService({ store: metadata.masking, maskers, audit }),
    maskingTest: new MaskingTest({ lists: traces.lists, store: metadata.masking }),
    ownUsage: new OwnUsageService(traces.ownUsage, metadata.usageNames),
    projects: new ProjectService(metadata.identities, audit),
  };
}

function readinessChecks({ metadata, traces, watermark }: Storage, moves: Moves): readonly ReadinessCheck[] {
  return [
    { name: 'sqlite', check: () => metadata.check() },
    { name: 'clickhouse', check: () => traces.check(), degrades: () => traces.takesWrites() },
    { name: 'disk', check: () => watermark.check(), degrades: () => true },
    { name: 'move', check: () => moves.check(), degrades: () => true },
  ];
}
