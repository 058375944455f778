import { Type } from '@sinclair/typebox';
import { oneOf, orNull, time, uuid } from '../../engine/schema/parts.js';
import type { StoredScore } from '../../engine/traces/model/score/scores.js';
import type { ScoreService } from '../../features/scores/score-service.js';
import { csv } from '../../http/parameter.js';
import { queryOf } from '../../http/query.js';
import { defineRoute } from '../../http/route.js';
import { renderError } from '../errors.js';
import { askedSession, ownId } from '../ids.js';
import { ANY_SCORE, DATA_TYPES, SOURCES, toRead } from '../score-routes.js';
import { anyText } from '../page.js';
import { TAG } from '../tag.js';
import { cursorOf, offsetAt } from './cursor.js';
import { timeOf } from '../../facade/list-rows.js';
import { subjectOf } from './presented.js';
import { before } from './trace-routes.js';

const ScoreReadV3 = Type.Object(
  {
    id: uuid('Id of the score.'),
    projectId: uuid('Id of the project.'),
    name: Type.String({ description: 'Name of the score.' }),
    value: Type.Union([Type.Number(), Type.String(), Type.Boolean()], { description: 'The value.' }),
    dataType: oneOf(DATA_TYPES, 'What the value is.'),
    source: oneOf(SOURCES, 'Where the score comes from.'),
    comment: orNull(Type.String({ description: 'Why.' })),
    metadata: Type.Record(Type.String(), Type.Unknown(), { description: 'Metadata of the score.' }),
    environment: Type.String({ description: 'Always `default`.' }),
    subject: Type.Unknown({ description: 'What the score is about: `kind` and `id`.' }),
    timestamp: time('When the stored value was received.'),
    createdAt: time('The same.'),
    updatedAt: time('The same.'),
  },
  { $id: 'LangfuseScoreV3', description: 'A score, as the newest clients of Langfuse read it.' },
);

const ScorePage = Type.Object(
  {
    data: Type.Array(ScoreReadV3, { description: 'Scores, newest first.' }),
    meta: Type.Object(
      {
        limit: Type.Integer({ description: 'The limit that was asked for.' }),
        cursor: orNull(
          Type.String({ description: 'What to send as `cursor` for the next page; null: there is none.' }),
        ),
      },
      { description: 'Where the page ends.' },
    ),
  },
  { $id: 'LangfuseScoresV3', description: 'A page of scores.' },
);

const ScoreQuery = Type.Object({
  limit: Type.Integer({ minimum: 1, maximum: 100, default: 50, description: 'Most scores of a page.' }),
  cursor: anyText('Where the page before ended.'),
  fields: anyText('Ignored: all fields are returned.'),
  name: Type.Optional(
    csv(Type.String({ minLength: 1, maxLength: 1000 }), { description: 'Only scores of these names.' }),
  ),
  traceId: anyText('Only scores of this trace.'),
  observationId: anyText('Only scores of this observation; with `traceId`.'),
  sessionId: anyText('Only scores of this session and of what is in it.'),
  fromTimestamp: anyText('Only scores that were received then or later, in ISO 8601.'),
  toTimestamp: anyText('Only scores that were received before, in ISO 8601.'),
});

/** Scores, as the newest clients of Langfuse read them. */
export function langfuseScoresV3Route(scores: Pick<ScoreService, 'list'>) {
  return defineRoute({
    method: 'GET',
    path: '/api/public/v3/scores',
    operationId: 'listLangfuseScoresByCursor',
    scopes: ['scores:read'],
    summary: 'List scores by a cursor (Langfuse)',
    description: 'Lists scores that match every given filter, newest first.',
    tag: TAG,
    access: 'key',
    bulk: true,
    query: queryOf(ScoreQuery),
    responses: { 200: { description: 'A page of scores.', schema: ScorePage } },
    errors: ['invalid', 'unavailable'],
    renderError,
    async handle({ principal: { project_id }, query, signal }) {
      const { limit, cursor, name, traceId, observationId, sessionId, fromTimestamp, toTimestamp } = query;
      const offset = offsetAt(cursor);
      const ofSpan = observationId === undefined ? null : [ownId(project_id, observationId)];
      const found = await scores.list(
        project_id,
        {
          ...ANY_SCORE,
          ...(ofSpan !== null && { entityType: 'span', entityIds: ofSpan }),
          names: name ?? null,
          traceId: traceId === undefined ? null : ownId(project_id, traceId),
          sessionId: askedSession(sessionId) ?? null,
          createdAfter: timeOf('fromTimestamp', fromTimestamp) ?? null,
          createdBefore: before(timeOf('toTimestamp', toTimestamp)) ?? null,
          ...{ limit: limit + 1, offset, count: false },
        },
        signal,
      );
      const data = found.scores.slice(0, limit).map((score) => toReadV3(score, project_id));
      const next = found.scores.length > limit ? cursorOf(offset + limit) : null;
      return { status: 200, body: { data, meta: { limit, cursor: next } } };
    },
  });
}

function toReadV3(score: StoredScore, projectId: string) {
  const { traceId: _trace, observationId: _observation, sessionId: _session, stringValue, ...read } = toRead(score);
  const value =
    read.dataType === 'BOOLEAN' ? score.value === true : read.dataType === 'NUMERIC' ? read.value : (stringValue ?? '');
  return { ...read, projectId, value, subject: subjectOf(score) };
}
