import { Type } from '@sinclair/typebox';
import type { ScoreService } from '../../features/scores/score-service.js';
import { csv } from '../../http/parameter.js';
import { queryOf } from '../../http/query.js';
import { defineRoute } from '../../http/route.js';
import { cursor, limit, nextCursor, offsetAt } from '../cursor.js';
import { BASE, TAG } from '../tag.js';
import { ABOUT, capital, WHATS, type What } from './about.js';
import { annotationRead, scoresOf, toAnnotation } from './presented.js';

type Scores = Pick<ScoreService, 'list'>;

const name = Type.String({ minLength: 1, maxLength: 200, description: 'Name of a score.' });
export const ProjectParams = Type.Object({
  phoenix_project: Type.String({ minLength: 1, maxLength: 256, description: 'A value of the tag `project`.' }),
});

const selection = {
  identifier: Type.Optional(
    Type.String({ minLength: 1, maxLength: 200, description: 'Only scores with this author, of what is named.' }),
  ),
  include_annotation_names: Type.Optional(csv(name, { maxItems: 100, description: 'Only scores of these names.' })),
  exclude_annotation_names: Type.Optional(csv(name, { maxItems: 100, description: 'No scores of these names.' })),
  limit: limit('scores'),
  cursor,
};

/** Scores of spans, traces and sessions, as clients of Phoenix read annotations. */
export function readAnnotationsRoutes(scores: Scores) {
  return WHATS.map((what) => readRoute(scores, what));
}

/** Parameters whose names are made: the type of the query does not have them. */
const idsOf = (what: What): object => ({
  [`${what}_ids`]: csv(ABOUT[what].named, { maxItems: 1_000, description: `The ${what}s.` }),
});

const pageOf = (what: What) =>
  Type.Object(
    {
      data: Type.Array(annotationRead(what), { description: 'A page of scores, newest first.' }),
      next_cursor: nextCursor,
    },
    {
      $id: what === 'span' ? 'PhoenixAnnotationPage' : `Phoenix${capital(what)}AnnotationPage`,
      description: 'A page of annotations.',
    },
  );

function readRoute(scores: Scores, what: What) {
  return defineRoute({
    method: 'GET',
    path: `${BASE}/v1/projects/:phoenix_project/${what}_annotations`,
    operationId: `listPhoenix${capital(what)}Annotations`,
    scopes: ['scores:read'],
    summary: `List annotations of ${what}s (Phoenix)`,
    description: `Lists scores of ${what}s, newest first. The project does not matter.`,
    tag: TAG,
    access: 'key',
    bulk: true,
    params: ProjectParams,
    query: queryOf(Type.Object({ ...idsOf(what), ...selection })),
    responses: { 200: { description: 'The annotations.', schema: pageOf(what) } },
    errors: ['unavailable'],
    async handle({ principal: { project_id }, query, signal }) {
      const named = namedBy(what, (query as Readonly<Record<string, unknown>>)[`${what}_ids`] as readonly string[]);
      const { include_annotation_names, exclude_annotation_names, identifier, limit: most } = query;
      const offset = offsetAt(query.cursor);
      const asked = {
        ...scoresOf([...named.keys()], { limit: most, offset }, what),
        ...{ names: include_annotation_names ?? null, authors: identifier === undefined ? null : [identifier] },
      };
      const { scores: found } = await scores.list(project_id, asked, signal);
      const left = new Set(exclude_annotation_names);
      const data = found.flatMap((score) =>
        left.has(score.name) ? [] : [toAnnotation(score, what, named.get(score.entity_id) ?? '')],
      );
      return { status: 200, body: { data, next_cursor: found.length < most ? null : String(offset + found.length) } };
    },
  });
}

/** What is named, by the ids that it has here. */
function namedBy(what: What, texts: readonly string[]): ReadonlyMap<string, string> {
  return new Map(
    texts.flatMap((text) => {
      const id = ABOUT[what].idOf(text);
      return id === null ? [] : [[id, what === 'session' ? text : text.toLowerCase()] as const];
    }),
  );
}
