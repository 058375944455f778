import { Readable } from 'node:stream';
import { Type } from '@sinclair/typebox';
import type { UnifiedFeedback, UnifiedFeedbackService } from '../../../../domain/feedback/unified.js';
import { UnifiedFeedbackRead } from '../../../../domain/feedback/unified-schema.js';
import { uuid } from '../../../../domain/schema/parts.js';
import { allOrPage } from '../../page.js';
import { queryOf } from '../../query.js';
import { defineRoute, type Route } from '../../route.js';
import { project_id } from '../parameters.js';
import { unifiedItemRead } from './presenters.js';
import { TAG } from './schema.js';

const MAX_LIMIT = 10_000;

export function getUnifiedFeedbackRoute(feedback: Pick<UnifiedFeedbackService, 'of'>): Route {
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
