import { DomainError } from '../engine/errors.js';
import { CompletionLists } from '../features/completions/completion-lists.js';
import { FeedbackLists } from '../features/feedback/feedback-lists.js';
import { FeedbackService } from '../features/feedback/feedback-service.js';
import type { MaskerOf } from '../features/masking/maskers.js';
import { UnifiedFeedbackService } from '../features/feedback/unified.js';
import type { AttachmentService } from '../features/images/attachment-service.js';
import { PromptFigureService } from '../features/prompts/prompt-figures.js';
import { LinkService } from '../features/review/link-service.js';
import { ReviewService } from '../features/review/review-service.js';
import { MistakenIds } from '../engine/traces/model/trace/mistaken-ids.js';
import type { Announce } from '../features/webhooks/event.js';
import type { Context } from './context.js';
import type { Storage } from './storage.js';

export interface Feedback {
  readonly feedback: FeedbackService;
  readonly unified: UnifiedFeedbackService;
  readonly feedbackLists: FeedbackLists;
  readonly completions: CompletionLists;
  readonly promptFigures: PromptFigureService;
  readonly links: LinkService;
  readonly reviews: ReviewService;
  /** Signs what browsers give back to the pages of feedback links. */
  readonly pageSecret: Buffer;
}

const SIGNING_KEY = 'feedback-pages';

/** Everything about feedback, and about the feedback links by which reviewers give it. */
export function openFeedback(
  { config, events, baseUrl }: Context,
  { metadata, traces, audit }: Storage,
  {
    attachments,
    announce,
    masker,
  }: { readonly attachments: AttachmentService; readonly announce: Announce; readonly masker: MaskerOf },
): Feedback {
  const {
    feedback: store,
    feedbackItems,
    feedbackJudges: judges,
    links: linkStore,
    promptIdentities: prompts,
  } = metadata;
  const ids = new MistakenIds(traces.entitySpans);
  const feedback = new FeedbackService({
    ...{ store, prompts, judges, ids, masker, observer: events, announce },
    together: (work) => metadata.together(work),
    async slugOf(projectId, spanId, signal) {
      const slug = await traces.completions.slugNamed(projectId, spanId, signal);
      if (slug === undefined) throw new DomainError('not_found', 'There is no span with this id');
      return slug;
    },
  });
  const links = new LinkService({
    store: linkStore,
    prompts,
    completions: traces.completions,
    urlOf: (token) => `${baseUrl()}/f/${token}`,
    observer: events,
    audit,
  });
  return {
    feedback,
    unified: new UnifiedFeedbackService(traces.entitySpans, feedbackItems),
    feedbackLists: new FeedbackLists({
      pages: metadata.feedbackPages,
      prompts,
      completions: traces.completions,
      links: linkStore,
    }),
    completions: new CompletionLists({ prompts, spans: traces.promptSpans, opinions: metadata.completionOpinions }),
    promptFigures: new PromptFigureService({ statistics: traces.statistics, feedback: metadata.promptFeedback }),
    links,
    reviews: new ReviewService({
      links,
      store: linkStore,
      prompts,
      completions: traces.completions,
      attachments,
      feedback,
      given: store,
      limits: config.reviews,
    }),
    pageSecret: metadata.secret(SIGNING_KEY),
  };
}
