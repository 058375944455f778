import { Type, type TProperties } from '@sinclair/typebox';
import { uuid } from '../../engine/schema/parts.js';
import { invalid } from '../../engine/validation/validation.js';
import { inSentNames } from '../../facade/sent-names.js';
import { MAX_SCORES, type ScoreInput } from '../../features/scores/schema.js';
import type { ScoreService } from '../../features/scores/score-service.js';
import { queryOf } from '../../http/query.js';
import { defineRoute, jsonBody } from '../../http/route.js';
import { annotationOf, scoreOfAnnotation, type Annotation } from '../annotation.js';
import { BASE, TAG } from '../tag.js';
import { ABOUT, capital, WHATS, type What } from './about.js';

const Answer = Type.Object(
  { data: Type.Array(Type.Object({ id: uuid('Id of the score.') }), { description: 'The stored scores, in order.' }) },
  { $id: 'PhoenixAnnotations', description: 'What became of annotations.' },
);

const sync = Type.Optional(
  Type.Boolean({ description: 'Without effect: the response always waits until scores are stored.' }),
);

/** Annotations, as clients of Phoenix send them: each is a score. Older programs send them without {@link BASE}. */
export function annotationRoutes(scores: Pick<ScoreService, 'post'>) {
  return WHATS.flatMap((what) => {
    const operationId = `postPhoenix${capital(what)}Annotations`;
    const body = bodyOf(what);
    return [
      annotationsRoute(scores, { what, body, path: `/v1/${what}_annotations`, operationId }),
      annotationsRoute(scores, {
        ...{ what, body, path: `${BASE}/v1/${what}_annotations` },
        operationId: `${operationId}OfClient`,
      }),
    ];
  });
}

function bodyOf(what: What) {
  const name = `Phoenix${capital(what)}Annotation`;
  const item = annotationOf<TProperties>({ [`${what}_id`]: ABOUT[what].named }, name);
  const data = Type.Array(item, { maxItems: MAX_SCORES, description: 'The annotations.' });
  return jsonBody(Type.Object({ data }, { $id: `${name}s`, description: 'Annotations to store.' }), { lenient: true });
}

interface AnnotationPlace {
  readonly what: What;
  readonly body: ReturnType<typeof bodyOf>;
  readonly path: string;
  readonly operationId: string;
}

function annotationsRoute(scores: Pick<ScoreService, 'post'>, { what, body, path, operationId }: AnnotationPlace) {
  const { idOf } = ABOUT[what];
  return defineRoute({
    method: 'POST',
    path,
    operationId,
    scopes: ['scores:write'],
    summary: `Store annotations of ${what}s (Phoenix)`,
    description:
      `Stores annotations of ${what}s as scores, all or none. An annotation with the same name, annotator and identifier ` +
      `replaces the earlier one of the same ${what}.`,
    tag: TAG,
    access: 'key',
    query: queryOf(Type.Object({ sync })),
    body,
    responses: { 200: { description: 'The annotations are stored.', schema: Answer } },
    errors: ['invalid', 'overloaded', 'unavailable'],
    async handle({ principal, body: { data } }) {
      const sent = data.map((annotation, index) => {
        const about = (annotation as Readonly<Record<string, unknown>>)[`${what}_id`];
        return scoreAt(index, { what, id: idOf(String(about)) }, annotation as Annotation);
      });
      const stored = await inSentNames(() => scores.post(principal, sent), nameOf);
      return { status: 200, body: { data: stored.map(({ id }) => ({ id })) } };
    },
  });
}

interface About {
  readonly what: What;
  readonly id: string | null;
}

/** @throws DomainError `invalid` */
function scoreAt(index: number, { what, id }: About, annotation: Annotation): ScoreInput {
  if (id === null) throw invalid([{ pointer: `/data/${index}/${what}_id`, detail: 'must not be the nil UUID' }]);
  const score = scoreOfAnnotation({ entity_type: what, entity_id: id }, annotation);
  if (score === null) throw invalid([{ pointer: `/data/${index}/result`, detail: 'must have a score or a label' }]);
  return score;
}

/** What the client calls a value of a score. */
const nameOf = (pointer: string) =>
  `/data${pointer.replace(/\/value$/, '/result').replace(/\/author$/, '/identifier')}`;
