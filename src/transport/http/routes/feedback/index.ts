import type { FeedbackLists } from '../../../../domain/feedback/feedback-lists.js';
import type { FeedbackService } from '../../../../domain/feedback/feedback-service.js';
import type { UnifiedFeedbackService } from '../../../../domain/feedback/unified.js';
import type { LinkService } from '../../../../domain/review/link-service.js';
import type { Route } from '../../route.js';
import { createLinkRoute } from './create-link.js';
import { getLinkRoute } from './get-link.js';
import { getUnifiedFeedbackRoute } from './get-unified-feedback.js';
import { listLinkFeedbackRoute } from './list-link-feedback.js';
import { listLinksRoute } from './list-links.js';
import { listPromptFeedbackRoute } from './list-prompt-feedback.js';
import { revokeLinkRoute } from './revoke-link.js';
import { submitFeedbackRoute } from './submit-feedback.js';
import { updateLinkRoute } from './update-link.js';

export interface FeedbackRoutesParts {
  readonly feedback: FeedbackService;
  readonly unified: UnifiedFeedbackService;
  readonly feedbackLists: FeedbackLists;
  readonly links: LinkService;
}

/** Feedback on completions, everything said about an entity, and the links by which reviewers give it. */
export function feedbackRoutes({ feedback, unified, feedbackLists, links }: FeedbackRoutesParts): Route[] {
  return [
    submitFeedbackRoute(feedback),
    getUnifiedFeedbackRoute(unified),
    listPromptFeedbackRoute(feedbackLists),
    listLinkFeedbackRoute(feedbackLists),
    createLinkRoute(links),
    listLinksRoute(links),
    getLinkRoute(links),
    updateLinkRoute(links),
    revokeLinkRoute(links),
  ];
}
