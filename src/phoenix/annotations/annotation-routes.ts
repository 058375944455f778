import { Type, type TProperties } from '@sinclair/typebox';
import { spanUuid, traceUuid } from '../../engine/schema/ids.js';
import { label } from '../../engine/schema/inputs.js';
import { uuid } from '../../engine/schema/parts.js';
import { invalid } from '../../engine/validation/validation.js';
import { inSentNames } from '../../facade/sent-names.js';
import { MAX_SCORES, type ScoreInput } from '../../features/scores/schema.js';
import type { ScoreService } from '../../features/scores/score-service.js';
import { queryOf } from '../../http/query.js';
import { defineRoute, jsonBody } from '../../http/route.js';
import { sessionNamed } from '../../otlp/session-id.js';
import { annotationOf, scoreOfAnnotation, type Annotation } from '../annotation.js';
import { BASE, TAG } from '../tag.js';

const hex = (length: number, description: string) =>
  Type.String({
    pattern: `^(?!0+$)[0-9a-fA-F]{${length}}$`,
    'x-must': `be ${length} hexadecimal digits, not all of them 0`,
    description,
  });

/** What annotations may be about: how they name it, and what it is here. */
const ABOUT = {
  span: {
    operationId: 'postPhoenixSpanAnnotations',
    field: { span_id: hex(16, 'Id of the span, as OpenTelemetry has it.') },
    idOf: (text: string) => spanUuid(text.toLowerCase()),
  },
  trace: {
    operationId: 'postPhoenixTraceAnnotations',
    field: { trace_id: hex(32, 'Id of the trace, as OpenTelemetry has it.') },
    idOf: (text: string) => traceUuid(text.toLowerCase()),
  },
  session: {
    operationId: 'postPhoenixSessionAnnotations',
    field: { session_id: label('Id of the session, as the application names it.', 1) },
    idOf: (text: string) => sessionNamed(text)?.id ?? null,
  },
} as const;

const Answer = Type.Object(
  { data: Type.Array(Type.Object({ id: uuid('Id of the score.') }), { description: 'The stored scores, in order.' }) },
  { $id: 'PhoenixAnnotations', description: 'What became of annotations.' },
);

const sync = Type.Optional(
  Type.Boolean({ description: 'Without effect: the response always waits until scores are stored.' }),
);

type What = keyof typeof ABOUT;

/** Annotations, as clients of Phoenix send them: each is a score. Older programs send them without {@link BASE}. */
export function annotationRoutes(scores: Pick<ScoreService, 'post'>) {
  return (Object.keys(ABOUT) as What[]).flatMap((what) => {
    const { operationId } = ABOUT[what];
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
  const name = `Phoenix${what[0]?.toUpperCase() ?? ''}${what.slice(1)}Annotation`;
  const item = annotationOf(ABOUT[what].field as TProperties, name);
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
  readonly what: keyof typeof ABOUT;
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
