import { Type } from '@sinclair/typebox';
import { Readable } from 'node:stream';
import type { Exports } from '../../exports/exports.js';
import { exportRoute } from '../../exports/http/export-route.js';
import type { FeedbackLists } from '../feedback-lists.js';
import { COMPLETION_POINTER, type FeedbackService, type FeedbackTarget, SLUG_POINTER } from '../feedback-service.js';
import { FeedbackPageRead } from '../list-schema.js';
import { FeedbackInput, FeedbackRead } from '../schema.js';
import { UnifiedFeedbackRead } from '../unified-schema.js';
import type { UnifiedFeedback, UnifiedFeedbackService } from '../unified.js';
import { Slug } from '../../prompts/schema.js';
import { uuid } from '../../../engine/schema/parts.js';
import { allOrPage } from '../../../http/page.js';
import { asPathParameters, queryOf } from '../../../http/query.js';
import { defineRoute, uncheckedJsonBody } from '../../../http/route.js';
import { project_id } from '../../../http/parameters.js';
import { exportedFeedback } from './exported-feedback.js';
import { promptFeedbackQuery } from './list-query.js';
import { feedbackPageAnswer } from './page-json.js';
import { feedbackRead, unifiedItemRead } from './presenters.js';
import { TAG } from './schema.js';

export interface FeedbackRoutesParts {
  readonly feedback: FeedbackService;
  readonly unified: UnifiedFeedbackService;
  readonly feedbackLists: FeedbackLists;
  readonly exports: Exports;
}

/** Feedback on completions, and everything said about an entity. */
export function feedbackRoutes({ feedback, unified, feedbackLists, exports }: FeedbackRoutesParts) {
  return [
    submitFeedbackRoute(feedback),
    submitSpanFeedbackRoute(feedback),
    getUnifiedFeedbackRoute(unified),
    listPromptFeedbackRoute(feedbackLists),
    exportRoute(exportedFeedback(feedbackLists), exports),
  ];
}

const NAMES = { [SLUG_POINTER]: 'prompt_slug', [COMPLETION_POINTER]: 'completion_id' };

function submitFeedbackRoute(feedback: Pick<FeedbackService, 'submit'>) {
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

function submitSpanFeedbackRoute(feedback: Pick<FeedbackService, 'submitOfSpan'>) {
  return defineRoute({
    method: 'POST',
    path: '/projects/:project_id/spans/:span_id/feedback',
    operationId: 'submitSpanFeedback',
    summary: 'Submit feedback on a span',
    description:
      "Stores feedback of the API key's user on a stored span, whether it names a prompt or not, or with `judge_id` on that " +
      "judge's evaluation of it. If the span names a prompt, the feedback counts for that prompt. Otherwise `prompt_id` is null. " +
      'If you send feedback again, it replaces the earlier feedback, as for a completion.',
    tag: TAG,
    access: 'key',
    params: Type.Object({ project_id, span_id: uuid('Id of the span.') }),
    body: uncheckedJsonBody(FeedbackInput, { lenient: true }),
    responses: { 200: { description: 'The feedback as stored.', schema: FeedbackRead } },
    errors: ['not_found', 'unavailable'],
    async handle({ principal, params: { project_id, span_id }, body, signal }) {
      const target = { projectId: project_id, userId: principal.user_id, completionId: span_id };
      return { status: 200, body: feedbackRead(await feedback.submitOfSpan(target, body, 'api', signal)) };
    },
  });
}

const MAX_LIMIT = 10_000;

function getUnifiedFeedbackRoute(feedback: Pick<UnifiedFeedbackService, 'of'>) {
  return defineRoute({
    method: 'GET',
    path: '/projects/:project_id/feedback/:entity_type/:entity_id',
    operationId: 'getUnifiedFeedback',
    summary: 'Get all feedback on a span, trace or session',
    description:
      'Streams feedback of people and evaluations by judges, newest first. For a trace or session, it covers all ' +
      'spans that it has now. Without `limit`, the response has all items; the summary always counts all of them. ' +
      'If there are more than 1,000,000 items, only the newest 1,000,000 are available, with `limit`.',
    tag: TAG,
    access: 'key',
    bulk: true,
    params: Type.Object({
      project_id,
      entity_type: Type.Union([Type.Literal('span'), Type.Literal('trace'), Type.Literal('session')], {
        description: 'Type of the object with the id `entity_id`.',
      }),
      entity_id: uuid('Id of the span, trace or session.'),
    }),
    query: queryOf(Type.Object(allOrPage(MAX_LIMIT))),
    responses: { 200: { description: 'The feedback.', schema: UnifiedFeedbackRead } },
    errors: ['not_found', 'unavailable'],
    async handle({ params: { project_id, entity_type, entity_id }, query: { limit, offset }, signal }) {
      const found = await feedback.of(project_id, entity_type, entity_id, { limit: limit ?? null, offset }, signal);
      const stream = Readable.from(jsonOf({ entity_type, entity_id }, found), { objectMode: false });
      return { status: 200, stream, contentType: 'application/json' };
    },
  });
}

/** Written portion by portion: a thousand expected outputs may be larger than memory. */
async function* jsonOf(entity: object, { summary, items }: UnifiedFeedback): AsyncGenerator<string> {
  yield `${JSON.stringify({ ...entity, summary }).slice(0, -1)},"items":[`;
  let before = '';
  for await (const portion of items) {
    for (const item of portion) {
      yield before + JSON.stringify(unifiedItemRead(item));
      before = ',\n';
    }
  }
  yield ']}';
}

function listPromptFeedbackRoute(lists: Pick<FeedbackLists, 'ofPrompt'>) {
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
