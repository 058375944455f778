import { Type } from '@sinclair/typebox';
import type { FeedbackLists } from '../../../../domain/feedback/feedback-lists.js';
import { FeedbackPageRead } from '../../../../domain/feedback/list-schema.js';
import { Slug } from '../../../../domain/prompt/schema.js';
import { defineRoute, type Route } from '../../route.js';
import { project_id } from '../parameters.js';
import { promptFeedbackQuery } from './list-query.js';
import { feedbackPageAnswer } from './page-json.js';
import { TAG } from './schema.js';

export function listPromptFeedbackRoute(lists: Pick<FeedbackLists, 'ofPrompt'>): Route {
  return defineRoute({
    method: 'GET',
    path: '/projects/:project_id/prompts/:prompt_slug/feedback',
    operationId: 'listPromptFeedback',
    summary: 'List the feedback on a prompt',
    description:
      'Returns feedback on completions of the prompt, newest first; for the task of a judge, feedback on its ' +
      'evaluations. A page with fewer than `limit` items is the last one, unless feedback was deleted meanwhile. ' +
      '`total` counts all records that match the filters.',
    tag: TAG,
    access: 'key',
    params: Type.Object({ project_id, prompt_slug: Slug }),
    query: promptFeedbackQuery,
    responses: { 200: { description: 'A page of feedback.', schema: FeedbackPageRead } },
    errors: ['not_found', 'unavailable'],
    bulk: true,
    handle: async ({ params: { project_id, prompt_slug }, query, signal }) =>
      feedbackPageAnswer(await lists.ofPrompt(project_id, prompt_slug, query, signal), query.window),
  });
}
