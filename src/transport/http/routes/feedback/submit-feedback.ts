import { Type } from '@sinclair/typebox';
import {
  COMPLETION_POINTER,
  SLUG_POINTER,
  type FeedbackService,
  type FeedbackTarget,
} from '../../../../domain/feedback/feedback-service.js';
import { FeedbackInput, FeedbackRead } from '../../../../domain/feedback/schema.js';
import { Slug } from '../../../../domain/prompt/schema.js';
import { uuid } from '../../../../domain/schema/parts.js';
import { asPathParameters } from '../../query.js';
import { defineRoute, uncheckedJsonBody, type Route } from '../../route.js';
import { feedbackRead } from './presenters.js';
import { TAG } from './schema.js';

const NAMES = { [SLUG_POINTER]: 'prompt_slug', [COMPLETION_POINTER]: 'completion_id' };

export function submitFeedbackRoute(feedback: Pick<FeedbackService, 'submit'>): Route {
  return defineRoute({
    method: 'POST',
    path: '/v1/prompts/:prompt_slug/completions/:completion_id/feedback',
    operationId: 'submitFeedback',
    summary: 'Submit feedback on a completion',
    description:
      "Stores feedback of the API key's user on a completion, or with `judge_id` on that judge's evaluation of it. " +
      'For an evaluation, `judge_was_right` means the same as `thumbs_up`, and one of the two is enough. If you ' +
      'send feedback again for the same completion and judge, it replaces the earlier feedback: `id` and ' +
      '`created_at` stay, and absent fields become null. The prompt must exist; the completion may arrive later. ' +
      'The id of a stored trace or session is refused (422).',
    tag: TAG,
    access: 'key',
    params: Type.Object({
      prompt_slug: Slug,
      completion_id: uuid('Id of the span.'),
    }),
    body: uncheckedJsonBody(FeedbackInput, { lenient: true }),
    responses: { 200: { description: 'The feedback as stored.', schema: FeedbackRead } },
    errors: ['not_found', 'unavailable'],
    async handle({ principal, params, body }) {
      const target: FeedbackTarget = {
        projectId: principal.project_id,
        userId: principal.user_id,
        slug: params.prompt_slug,
        completionId: params.completion_id,
      };
      const stored = await asPathParameters(NAMES, () => feedback.submit(target, body));
      return { status: 200, body: feedbackRead(stored) };
    },
  });
}
