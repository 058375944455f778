import type { AttachmentService } from '../domain/attachment/attachment-service.js';
import type { DeletionService } from '../domain/deletion/deletion-service.js';
import { IdentityService } from '../domain/identity/identity-service.js';
import type { Lists } from '../domain/list/lists.js';
import { PriceService } from '../domain/price/price-service.js';
import { PromptService } from '../domain/prompt/prompt-service.js';
import { createListPrices } from '../domain/span/pricing.js';
import type { OwnUsage } from '../domain/usage/own-usage.js';
import type { ReadinessCheck } from '../transport/http/routes/operations/readiness.js';
import { openAttachments } from './attachments.js';
import type { Context } from './context.js';
import { openDeletions } from './deletion.js';
import { openFeedback, type Feedback } from './feedback.js';
import { openIngest, type Ingest } from './ingest.js';
import { openJudges, type Judges } from './judges.js';
import { openExamples, openLearning, type Learning } from './learning.js';
import { openModels } from './models.js';
import { openStorage, type Storage } from './storage.js';

/** Services of the domain, for every transport. */
export interface Services extends Ingest, Omit<Judges, 'work'>, Omit<Learning, 'work'>, Feedback {
  readonly identity: IdentityService;
  readonly prompts: PromptService;
  readonly prices: PriceService;
  readonly lists: Lists;
  readonly ownUsage: OwnUsage;
  readonly attachments: AttachmentService;
  readonly deletions: DeletionService;
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
  const { metadata, traces } = storage;
  const prices = new PriceService({ store: metadata.prices, listPrices: createListPrices() });
  const { price, modelName } = prices;
  const prompts = new PromptService({ store: metadata.prompts, modelName, observer: context.events });
  // Before anything else reads: what was deleted before a crash is shown to nobody after it.
  const deletions = await openDeletions(context, storage, {
    images: attachments.vault,
    onProjectOrdered(projectId) {
      identity.projectGone(projectId);
      prices.forget(projectId);
      prompts.forget();
    },
  });
  const ingest = openIngest(context, storage, { prices, attachments });
  const examples = openExamples(context, storage);
  const models = await openModels(context, storage, { ingest: ingest.ingest, price, examples });
  const { work: judgeWork, ...judges } = openJudges(context, storage, { prompts, models });
  const { work: learningWork, ...learning } = openLearning(context, storage, { prompts, models, price, examples });
  deletions.start([...judgeWork, ...learningWork]);
  return {
    ...ingest,
    ...judges,
    ...learning,
    ...openFeedback(context, storage, attachments.service),
    identity,
    prompts,
    prices,
    lists: traces.lists,
    ownUsage: traces.ownUsage,
    attachments: attachments.service,
    deletions,
    checks: [
      { name: 'sqlite', check: () => metadata.check() },
      { name: 'clickhouse', check: () => traces.check() },
    ],
  };
}

function openIdentity({ log, closers }: Context, { metadata }: Storage): IdentityService {
  const identity = new IdentityService({
    store: metadata.identities,
    onRecordFailed: (error) => log.warn('Times of last use of API keys could not be written', { error }),
  });
  closers.push(() => identity.close());
  return identity;
}
