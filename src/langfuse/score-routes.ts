import { Type } from '@sinclair/typebox';
import { invalid } from '../engine/validation/validation.js';
import { formatTimestamp } from '../engine/timestamp.js';
import type { ScoreKind, ScoreSource } from '../engine/traces/model/score/score.js';
import type { ScoreQuery, StoredScore } from '../engine/traces/model/score/scores.js';
import type { ScorerService } from '../features/experiments/scorer-service.js';
import type { ScoreService } from '../features/scores/score-service.js';
import { oneOf, orNull, time, uuid } from '../engine/schema/parts.js';
import { queryOf } from '../http/query.js';
import { defineRoute, uncheckedJsonBody } from '../http/route.js';
import { renderError } from './errors.js';
import { askedSession, ownId } from './ids.js';
import { LangfuseScore, runScoreId, runScoreOf, scoreOf } from './scores.js';
import { anyText, metaOf, PageMeta, pageParameters } from './page.js';
import { TAG } from './tag.js';

export const DATA_TYPES = ['NUMERIC', 'BOOLEAN', 'CATEGORICAL', 'TEXT'] as const;
export const SOURCES = ['API', 'ANNOTATION', 'EVAL'] as const;
const optionalId = (description: string) => orNull(uuid(description));

export const ScoreRead = Type.Object(
  {
    id: uuid('Id of the score.'),
    traceId: optionalId('Trace that the score is about.'),
    observationId: optionalId('Observation that the score is about.'),
    sessionId: optionalId('Session that the score is about.'),
    name: Type.String({ description: 'Name of the score.' }),
    value: Type.Union([Type.Number(), Type.String()], { description: 'The value. Of booleans, true is 1.' }),
    stringValue: orNull(Type.String({ description: 'The value of what is no number, as text.' })),
    dataType: oneOf(DATA_TYPES, 'What the value is.'),
    source: oneOf(SOURCES, 'Where the score comes from.'),
    comment: orNull(Type.String({ description: 'Why.' })),
    metadata: Type.Record(Type.String(), Type.Unknown(), { description: 'Metadata of the score.' }),
    environment: Type.String({ description: 'Always `default`.' }),
    timestamp: time('When the stored value was received.'),
    createdAt: time('The same.'),
    updatedAt: time('The same.'),
  },
  { $id: 'LangfuseScoreRead', description: 'A score, as clients of Langfuse read it.' },
);

const ScorePage = Type.Object(
  {
    data: Type.Array(ScoreRead, { description: 'A page of scores, newest first.' }),
    meta: PageMeta,
  },
  { $id: 'LangfuseScores', description: 'A page of scores.' },
);

const MAX_PAGE = 10_000;
const ScoreQuery = Type.Object({
  ...pageParameters('scores', MAX_PAGE),
  name: anyText('Only scores of this name.'),
  traceId: anyText('Only scores of this trace and of its observations.'),
  sessionId: anyText('Only scores of this session and of what is in it.'),
});

/** Any scores, newest first. */
export const ANY_SCORE: Omit<ScoreQuery, 'limit' | 'offset' | 'count'> = {
  ...{ entityType: null, entityIds: null, traceId: null, sessionId: null, names: null, sources: null, authors: null },
  ...{ texts: null, min: null, max: null, createdAfter: null, createdBefore: null },
  ...{ sort: 'created_at', descending: true },
};

/** Scores, as clients of Langfuse send and read them. */
export function langfuseScoreRoutes({ scores, scorers }: LangfuseScores) {
  return [postRoute({ scores, scorers }), listRoute(scores), deleteRoute(scores)];
}

export interface LangfuseScores {
  readonly scores: Pick<ScoreService, 'post' | 'postEach' | 'list' | 'remove'>;
  readonly scorers: Pick<ScorerService, 'keep'>;
}

function postRoute({ scores, scorers }: LangfuseScores) {
  return defineRoute({
    method: 'POST',
    path: '/api/public/scores',
    operationId: 'postLangfuseScore',
    summary: 'Store a score (Langfuse)',
    description:
      'Stores a score of a trace, an observation, a session or a run of a dataset. A score with the same name of the same object ' +
      'replaces the earlier one.',
    tag: TAG,
    access: 'key',
    scopes: ['scores:write'],
    body: uncheckedJsonBody(LangfuseScore, { lenient: true }),
    responses: {
      200: { description: 'The score is stored.', schema: Type.Object({ id: uuid('Id of the score.') }) },
    },
    errors: ['invalid', 'not_found', 'conflict', 'overloaded', 'unavailable'],
    renderError,
    async handle({ principal, body }) {
      const ofRun = runScoreOf(body);
      if (ofRun !== null && typeof ofRun !== 'string') {
        scorers.keep(principal.project_id, ofRun.experimentId, ofRun.metric);
        return { status: 200, body: { id: runScoreId(ofRun) } };
      }
      const score = ofRun ?? scoreOf(principal.project_id, body);
      if (typeof score === 'string') throw invalid([issueOf(score)]);
      const [stored] = await scores.post(principal, score);
      return { status: 200, body: { id: stored?.id ?? '' } };
    },
  });
}

/** A rule in words, `body/name must …`, as an issue. */
function issueOf(rule: string) {
  const [, place = '', detail = rule] = /^body(\S*) (.+)$/.exec(rule) ?? [];
  return { pointer: place, detail };
}

function listRoute(scores: Pick<ScoreService, 'list'>) {
  return defineRoute({
    method: 'GET',
    path: '/api/public/v2/scores',
    operationId: 'listLangfuseScores',
    summary: 'List scores (Langfuse)',
    description: 'Lists scores that match every given filter, newest first.',
    tag: TAG,
    access: 'key',
    scopes: ['scores:read'],
    bulk: true,
    query: queryOf(ScoreQuery),
    responses: { 200: { description: 'A page of scores.', schema: ScorePage } },
    errors: ['unavailable'],
    renderError,
    async handle({ principal, query: { page, limit, name, traceId, sessionId }, signal }) {
      const projectId = principal.project_id;
      const found = await scores.list(
        projectId,
        {
          ...{ ...ANY_SCORE, count: true },
          traceId: traceId === undefined ? null : ownId(projectId, traceId),
          sessionId: askedSession(sessionId) ?? null,
          names: name === undefined ? null : [name],
          ...{ limit, offset: (page - 1) * limit },
        },
        signal,
      );
      const meta = metaOf({ page, limit }, found.total ?? 0);
      return { status: 200, body: { data: found.scores.map(toRead), meta } };
    },
  });
}

function deleteRoute(scores: Pick<ScoreService, 'remove'>) {
  return defineRoute({
    method: 'DELETE',
    path: '/api/public/scores/:score_id',
    operationId: 'deleteLangfuseScore',
    summary: 'Delete a score (Langfuse)',
    description: 'Deletes a score by the id that `POST` returned.',
    tag: TAG,
    access: 'key',
    scopes: ['admin'],
    params: Type.Object({ score_id: uuid('Id of the score.') }),
    responses: { 204: { description: 'The score is deleted.' } },
    errors: ['not_found', 'unavailable'],
    renderError,
    async handle({ principal, params }) {
      await scores.remove(principal, params.score_id);
      return { status: 204 };
    },
  });
}

const TYPE_OF: Readonly<Record<ScoreKind, (typeof DATA_TYPES)[number]>> = {
  numeric: 'NUMERIC',
  boolean: 'BOOLEAN',
  categorical: 'CATEGORICAL',
  text: 'TEXT',
};
const SOURCE_OF: Readonly<Record<ScoreSource, (typeof SOURCES)[number]>> = {
  sdk: 'API',
  import: 'API',
  code: 'EVAL',
  judge: 'EVAL',
  human: 'ANNOTATION',
};

export function toRead({ id, entity_type, entity_id, kind, value, source, created_at, ...score }: StoredScore) {
  const at = formatTimestamp(created_at);
  return {
    id,
    traceId: entity_type === 'trace' ? entity_id : null,
    observationId: entity_type === 'span' ? entity_id : null,
    sessionId: entity_type === 'session' ? entity_id : null,
    name: score.name,
    value: typeof value === 'boolean' ? Number(value) : value,
    stringValue: kind === 'numeric' ? null : value === true ? 'True' : value === false ? 'False' : String(value),
    dataType: TYPE_OF[kind],
    source: SOURCE_OF[source],
    comment: score.comment,
    metadata: score.metadata,
    environment: 'default',
    ...{ timestamp: at, createdAt: at, updatedAt: at },
  };
}
