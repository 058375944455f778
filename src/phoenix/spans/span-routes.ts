import { randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import { Type } from '@sinclair/typebox';
import { optional } from '../../engine/schema/inputs.js';
import type { Lists } from '../../engine/traces/model/list/lists.js';
import { invalid } from '../../engine/validation/validation.js';
import { queryOf } from '../../http/query.js';
import { defineRoute, jsonBody } from '../../http/route.js';
import { ProjectParams } from '../annotations/read-route.js';
import { limit, nextCursor } from '../cursor.js';
import { BASE, TAG } from '../tag.js';
import { frameText } from './data-frame.js';
import { SpanRead, toSpan } from './presented.js';
import {
  cursorOf,
  lastOf,
  moment,
  namesIds,
  positionAt,
  selection,
  spanCursor,
  spansAsked,
  type SpanWindow,
} from './span-query.js';

type Parts = Pick<Lists, 'spans'>;

/** Spans, as clients of Phoenix read them. */
export function spanRoutes(lists: Parts) {
  return [listRoute(lists), frameRoute(lists)];
}

const Page = Type.Object(
  { data: Type.Array(SpanRead, { description: 'A page of spans, newest first.' }), next_cursor: nextCursor },
  { $id: 'PhoenixSpans', description: 'A page of spans.' },
);

function listRoute(lists: Parts) {
  return defineRoute({
    method: 'GET',
    path: `${BASE}/v1/projects/:phoenix_project/spans`,
    operationId: 'listPhoenixSpans',
    scopes: ['spans:read'],
    summary: 'List spans (Phoenix)',
    description: 'Lists spans with the tag `project`, newest first.',
    tag: TAG,
    access: 'key',
    bulk: true,
    params: ProjectParams,
    query: queryOf(Type.Object({ limit: limit('spans', 100), cursor: spanCursor, ...selection })),
    responses: { 200: { description: 'The spans.', schema: Page } },
    errors: ['invalid', 'too_large', 'unavailable'],
    async handle({ principal: { project_id }, params, query: { limit: most, cursor: at, ...asked }, signal }) {
      const window = { limit: most, behind: positionAt(at) };
      const found = await spansAsked(lists, project_id, { ...asked, project: params.phoenix_project }, window, signal);
      const last = namesIds(asked) || found.length < most ? null : lastOf(found);
      const next_cursor = last && cursorOf(last);
      return { status: 200, body: { data: found.map(toSpan), next_cursor } };
    },
  });
}

/** Most spans of a frame. */
const MAX_FRAME = 10_000;
const FrameQuery = Type.Object(
  {
    queries: Type.Array(Type.Record(Type.String(), Type.Unknown()), {
      minItems: 1,
      maxItems: 1,
      description: 'One query, which is empty: `select`, `filter`, `explode` and others are not supported.',
    }),
    start_time: optional(moment('Only spans that started then or later, in ISO 8601.')),
    end_time: optional(moment('Only spans that started before, in ISO 8601.')),
    limit: optional(
      Type.Integer({ minimum: 1, description: `Most spans; of more than ${MAX_FRAME}, so many. Default: 1,000.` }),
    ),
    root_spans_only: optional(Type.Boolean({ description: 'Whether only root spans are meant.' })),
    project_name: optional(Type.String({ maxLength: 256, description: 'Only spans with this tag `project`.' })),
  },
  { $id: 'PhoenixSpanQuery', description: 'Which spans to read.' },
);

function frameRoute(lists: Parts) {
  return defineRoute({
    method: 'POST',
    path: `${BASE}/v1/spans`,
    operationId: 'queryPhoenixSpans',
    scopes: ['spans:read'],
    summary: 'Get spans as a table (Phoenix)',
    description: 'Returns spans as a table of pandas, newest first.',
    tag: TAG,
    access: 'key',
    bulk: true,
    query: queryOf(
      Type.Object({
        project_name: Type.Optional(
          Type.String({ maxLength: 256, description: 'Only spans with this tag `project`.' }),
        ),
      }),
    ),
    body: jsonBody(FrameQuery, { lenient: true }),
    responses: {
      200: { description: 'The table.', schema: Type.String(), contentType: 'multipart/mixed' },
    },
    errors: ['invalid', 'unavailable'],
    handle({ principal: { project_id }, query, body, signal }) {
      const [asked = {}] = body.queries;
      const [unknown] = Object.keys(asked).filter((name) => name !== 'index');
      if (unknown !== undefined) throw invalid([{ pointer: `/queries/0/${unknown}`, detail: 'is not supported' }]);
      const { start_time, end_time, root_spans_only, project_name } = body;
      const project = query.project_name ?? project_name ?? undefined;
      const selected = {
        ...(start_time != null && { start_time }),
        ...(end_time != null && { end_time }),
        ...(root_spans_only === true && { parent_id: 'null' }),
        project,
      };
      const read = (window: SpanWindow) => spansAsked(lists, project_id, selected, window, signal);
      const frame = { boundary: randomUUID(), most: Math.min(body.limit ?? 1_000, MAX_FRAME) };
      const stream = Readable.from(frameText(read, frame), { objectMode: false });
      return { status: 200, contentType: `multipart/mixed; boundary=${frame.boundary}`, stream };
    },
  });
}
