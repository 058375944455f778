import type { FeedbackService } from '../../../../domain/feedback/feedback-service.js';
import type { UnifiedFeedbackService } from '../../../../domain/feedback/unified.js';
import type { Route } from '../../route.js';
import { getUnifiedFeedbackRoute } from './get-unified-feedback.js';
import { submitFeedbackRoute } from './submit-feedback.js';

/** Feedback on completions, and everything said about an entity. */
export function feedbackRoutes(feedback: FeedbackService, unified: UnifiedFeedbackService): Route[] {
  return [submitFeedbackRoute(feedback), getUnifiedFeedbackRoute(unified)];
}
