import type { ReviewConfig } from './config/config.js';
import type { AttachmentService } from './domain/attachment/attachment-service.js';
import { FeedbackService } from './domain/feedback/feedback-service.js';
import { UnifiedFeedbackService } from './domain/feedback/unified.js';
import { LinkService } from './domain/review/link-service.js';
import { ReviewService } from './domain/review/review-service.js';
import { reviewTextLimits } from './domain/review/schema.js';
import type { Events } from './observability/events.js';
import type { TraceStore } from './storage/clickhouse/trace-store.js';
import type { Database } from './storage/sqlite/database.js';
import { SqliteFeedbackItems } from './storage/sqlite/feedback-items.js';
import { SqliteFeedbackStore } from './storage/sqlite/feedback-store.js';
import { SqliteJudgeLookup } from './storage/sqlite/judge-lookup.js';
import { SqliteLinkStore } from './storage/sqlite/link-store.js';
import { SqlitePromptIdentities } from './storage/sqlite/prompt-identities.js';
import { readSecret } from './storage/sqlite/secrets.js';
import type { Route } from './transport/http/route.js';
import { feedbackRoutes } from './transport/http/routes/feedback/index.js';
import { reviewRoutes } from './ui/review/index.js';

export interface FeedbackOptions {
  readonly database: Database;
  readonly store: Pick<TraceStore, 'entitySpans' | 'completions'>;
  readonly attachments: AttachmentService;
  readonly events: Events;
  /** Base of the URLs handed out, without a slash at its end. */
  readonly baseUrl: () => string;
  readonly trustedProxies: number;
  readonly limits: ReviewConfig;
}

const SIGNING_KEY = 'feedback-pages';

/** Everything about feedback: the calls, and the pages of feedback links. Part of the composition root. */
export function openFeedback(options: FeedbackOptions): Route[] {
  const { database, store, attachments, events, baseUrl, trustedProxies, limits } = options;
  const records = new SqliteFeedbackStore(database);
  const prompts = new SqlitePromptIdentities(database);
  const linkStore = new SqliteLinkStore(database);
  const judges = new SqliteJudgeLookup(database);
  const feedback = new FeedbackService({ store: records, prompts, judges, observer: events });
  const unified = new UnifiedFeedbackService(store.entitySpans, new SqliteFeedbackItems(database));
  const links = new LinkService({ store: linkStore, prompts, urlOf: (token) => `${baseUrl()}/f/${token}` });
  const reviews = new ReviewService({
    links,
    store: linkStore,
    prompts,
    completions: store.completions,
    attachments,
    feedback,
    given: records,
    limits,
  });
  return [
    ...feedbackRoutes({ feedback, unified, links }),
    ...reviewRoutes({
      reviews,
      secret: readSecret(database, SIGNING_KEY),
      baseUrl,
      trustedProxies,
      requestsPerMinute: limits.requestsPerMinute,
      textLimits: reviewTextLimits(limits.maxTextCharacters),
      observer: events,
    }),
  ];
}
