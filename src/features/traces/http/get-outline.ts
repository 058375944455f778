import { Type } from '@sinclair/typebox';
import { uuid } from '../../../engine/schema/parts.js';
import type { OutlineService } from '../../../engine/traces/model/trace/outline.js';
import { MAX_OUTLINED, OutlineRead } from '../../../engine/traces/model/trace/outline-schema.js';
import { defineRoute } from '../../../http/route.js';
import { NOT_CURRENT_HEADERS, notCurrentHeaders } from './object-headers.js';

export function getOutlineRoute(outlines: Pick<OutlineService, 'of'>) {
  return defineRoute({
    method: 'GET',
    path: '/traces/:id/outline',
    operationId: 'getTraceOutline',
    summary: 'Get the outline of a trace',
    description: `Returns all spans of a trace as columns, small enough to draw the whole tree at once: kind, time, cost, evaluations and feedback, without texts. At most ${MAX_OUTLINED} spans; \`total\` counts all.`,
    tag: 'Traces',
    access: 'key',
    bulk: true,
    params: Type.Object({ id: uuid('Id of the trace.') }),
    responses: { 200: { description: 'The outline.', schema: OutlineRead, headers: NOT_CURRENT_HEADERS } },
    errors: ['not_found', 'unavailable'],
    async handle({ principal, params: { id }, signal }) {
      const { outline, isCurrent } = await outlines.of(principal.project_id, id, signal);
      return { status: 200, body: outline, headers: notCurrentHeaders(isCurrent ? [] : [id]) };
    },
  });
}
