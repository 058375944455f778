import { Type } from '@sinclair/typebox';
import { spanUuid } from '../../engine/schema/ids.js';
import type { ScoreService } from '../../features/scores/score-service.js';
import { csv } from '../../http/parameter.js';
import { queryOf } from '../../http/query.js';
import { defineRoute } from '../../http/route.js';
import { cursor, limit, nextCursor, offsetAt } from '../cursor.js';
import { BASE, TAG } from '../tag.js';
import { AnnotationRead, scoresOf, toAnnotation } from './presented.js';

const name = Type.String({ minLength: 1, maxLength: 200, description: 'Name of a score.' });
const spanId = Type.String({
  pattern: '^[0-9a-fA-F]{16}$',
  'x-must': 'be 16 hexadecimal digits',
  description: 'Id of a span, as OpenTelemetry names it.',
});
export const ProjectParams = Type.Object({
  phoenix_project: Type.String({ minLength: 1, maxLength: 256, description: 'A value of the tag `project`.' }),
});

const Page = Type.Object(
  { data: Type.Array(AnnotationRead, { description: 'A page of scores, newest first.' }), next_cursor: nextCursor },
  { $id: 'PhoenixAnnotationPage', description: 'A page of annotations.' },
);

const Query = queryOf(
  Type.Object({
    span_ids: csv(spanId, { maxItems: 1_000, description: 'The spans.' }),
    include_annotation_names: Type.Optional(csv(name, { maxItems: 100, description: 'Only scores of these names.' })),
    exclude_annotation_names: Type.Optional(csv(name, { maxItems: 100, description: 'No scores of these names.' })),
    limit: limit('scores'),
    cursor,
  }),
);

/** Scores of spans, as clients of Phoenix read annotations. */
export function readAnnotationsRoute(scores: Pick<ScoreService, 'list'>) {
  return defineRoute({
    method: 'GET',
    path: `${BASE}/v1/projects/:phoenix_project/span_annotations`,
    operationId: 'listPhoenixSpanAnnotations',
    scopes: ['scores:read'],
    summary: 'List annotations of spans (Phoenix)',
    description: 'Lists scores of spans, newest first. The project does not matter.',
    tag: TAG,
    access: 'key',
    bulk: true,
    params: ProjectParams,
    query: Query,
    responses: { 200: { description: 'The annotations.', schema: Page } },
    errors: ['unavailable'],
    async handle({ principal: { project_id }, query, signal }) {
      const hex = new Map(query.span_ids.map((id) => [spanUuid(id.toLowerCase()), id.toLowerCase()]));
      const offset = offsetAt(query.cursor);
      const asked = scoresOf([...hex.keys()], { limit: query.limit, offset });
      const names = query.include_annotation_names ?? null;
      const { scores: found } = await scores.list(project_id, { ...asked, names }, signal);
      const left = new Set(query.exclude_annotation_names);
      const data = found.flatMap((score) =>
        left.has(score.name) ? [] : [toAnnotation(score, hex.get(score.entity_id) ?? '')],
      );
      const isLast = found.length < query.limit;
      return { status: 200, body: { data, next_cursor: isLast ? null : String(offset + found.length) } };
    },
  });
}
