import { Type, type Static } from '@sinclair/typebox';
import { DomainError } from '../../engine/errors.js';
import type { Principal } from '../../engine/identity/identity.js';
import { requireScopes } from '../../engine/identity/scopes.js';
import { UUID, uuidOf } from '../../engine/schema/ids.js';
import { oneOf, orNull, time, uuid } from '../../engine/schema/parts.js';
import { formatTimestamp } from '../../engine/timestamp.js';
import { SCORE_SOURCES, type ScoreSource } from '../../engine/traces/model/score/score.js';
import type { ScoreQuery, StoredScore } from '../../engine/traces/model/score/scores.js';
import { invalid } from '../../engine/validation/validation.js';
import type { ScorerService } from '../../features/experiments/scorer-service.js';
import type { ScoreService } from '../../features/scores/score-service.js';
import { page } from '../../http/page.js';
import { csv } from '../../http/parameter.js';
import { queryOf } from '../../http/query.js';
import { defineRoute, jsonBody } from '../../http/route.js';
import { asObject } from '../../facade/json.js';
import { ANY_SCORES } from '../../facade/score-query.js';
import { ownId } from '../ids.js';
import { BASE, TAG } from '../tag.js';
import { FeedbackInput, FeedbackPatch, metadataOf, scoreOf, SOURCE_OF, valueOf } from './feedback.js';

export interface FeedbackParts {
  readonly scores: Pick<ScoreService, 'post' | 'list' | 'get' | 'remove'>;
  readonly scorers: Pick<ScorerService, 'keep'>;
}

const FeedbackRead = Type.Object(
  {
    id: uuid('Id of the feedback.'),
    created_at: time('When it was received.'),
    modified_at: time('The same.'),
    run_id: orNull(uuid('Run that it is about.')),
    trace_id: orNull(uuid('Trace that it is about.')),
    session_id: orNull(uuid('Experiment that it is about.')),
    key: Type.String({ description: 'Name of the score.' }),
    score: orNull(Type.Union([Type.Number(), Type.Boolean()], { description: 'The value, if it is no text.' })),
    value: Type.Unknown({ description: 'The value, if it is a text, else the value beside the score; null: none.' }),
    comment: orNull(Type.String({ description: 'Why.' })),
    correction: Type.Unknown({ description: 'What would have been right; null: not said.' }),
    feedback_source: Type.Object(
      {
        type: Type.String({ description: 'Such as `api`, `app` or `model`.' }),
        metadata: Type.Record(Type.String(), Type.Unknown(), { description: 'Metadata of the source.' }),
      },
      { description: 'Where it comes from.' },
    ),
    extra: orNull(Type.Record(Type.String(), Type.Unknown(), { description: 'What else was sent.' })),
  },
  { $id: 'LangsmithFeedback', description: 'A score, as clients of LangSmith read it.' },
);

const TYPE_OF: Readonly<Record<ScoreSource, string>> = {
  ...{ sdk: 'api', import: 'api', human: 'app', code: 'model', judge: 'auto_eval' },
};

/** Scores, as clients of LangSmith send and read them. */
export function feedbackRoutes(parts: FeedbackParts) {
  return [
    postRoute(parts),
    listRoute(parts.scores),
    getRoute(parts.scores),
    patchRoute(parts.scores),
    deleteRoute(parts.scores),
  ];
}

function postRoute({ scores, scorers }: FeedbackParts) {
  return defineRoute({
    method: 'POST',
    path: `${BASE}/feedback`,
    operationId: 'postLangsmithFeedback',
    scopes: ['scores:write'],
    summary: 'Store feedback (LangSmith)',
    description:
      'Stores a score of a run. Feedback about an experiment becomes a metric of it, which needs the scope `datasets:write`, too.',
    tag: TAG,
    access: 'key',
    body: jsonBody(FeedbackInput, { lenient: true }),
    responses: { 200: { description: 'The feedback is stored.', schema: FeedbackRead } },
    errors: ['invalid', 'not_found', 'conflict', 'overloaded', 'unavailable'],
    async handle({ principal, body }) {
      const { run_id, trace_id, session_id } = body;
      if (run_id == null && trace_id == null && session_id != null)
        return { status: 200, body: ofExperiment(principal, session_id, body, scorers) };
      const [stored] = await scores.post(principal, scoreOf(principal.project_id, body));
      if (stored === undefined) throw new Error('Feedback that was stored is not there');
      return { status: 200, body: toRead(stored) };
    },
  });
}

/** A figure of an experiment. */
function ofExperiment(
  by: Principal,
  sent: string,
  body: FeedbackInput,
  scorers: FeedbackParts['scorers'],
): Static<typeof FeedbackRead> {
  requireScopes(by, ['datasets:write']);
  const { project_id } = by;
  const { key, score = null, value = null, comment = null, correction = null, extra = null } = body;
  valueOf(body);
  const results = { score, value, comment, correction };
  const experiment = UUID.test(uuidOf(sent)) ? uuidOf(sent) : '';
  try {
    scorers.keep(project_id, experiment, { scope: 'run', name: key, repetition: 0, results, output_formats: {} });
  } catch (error) {
    // Clients try again what is not found.
    if (!(error instanceof DomainError) || error.kind !== 'not_found') throw error;
    throw invalid([{ pointer: '/session_id', detail: 'must be the id of an experiment' }]);
  }
  const at = formatTimestamp(Date.now() * 1000);
  return {
    ...{ id: ownId(project_id, body.id ?? `${experiment}/${key}`), created_at: at, modified_at: at },
    ...{ run_id: null, trace_id: null, session_id: experiment, key, score, value, comment, correction },
    ...{ feedback_source: { type: 'api', metadata: {} }, extra },
  };
}

const ListQuery = queryOf(
  Type.Object({
    run: Type.Optional(csv(uuid('Id of a run.'), { maxItems: 500, description: 'Only feedback about these runs.' })),
    key: Type.Optional(
      csv(Type.String({ description: 'A name.' }), { maxItems: 100, description: 'Only feedback of these names.' }),
    ),
    source: Type.Optional(
      csv(oneOf(Object.keys(SOURCE_OF), 'A source.'), { description: 'Only feedback from these sources.' }),
    ),
    session: Type.Optional(csv(uuid('Id of a project.'), { maxItems: 100, description: 'Without effect.' })),
    ...page({ maxLimit: 1_000, defaultLimit: 100, maxOffset: 10_000_000 }),
  }),
);

function listRoute(scores: FeedbackParts['scores']) {
  return defineRoute({
    method: 'GET',
    path: `${BASE}/feedback`,
    operationId: 'listLangsmithFeedback',
    scopes: ['scores:read'],
    summary: 'List feedback (LangSmith)',
    description: 'Lists scores of runs, newest first.',
    tag: TAG,
    access: 'key',
    bulk: true,
    query: ListQuery,
    responses: { 200: { description: 'The feedback.', schema: Type.Array(FeedbackRead) } },
    errors: ['unavailable'],
    async handle({ principal, query: { run, key, source, limit, offset }, signal }) {
      const query: ScoreQuery = {
        ...ANY_SCORES,
        entityType: 'span',
        entityIds: run ?? null,
        names: key ?? null,
        sources: source === undefined ? null : SCORE_SOURCES.filter((each) => source.includes(TYPE_OF[each])),
        ...{ limit, offset },
      };
      const found = await scores.list(principal.project_id, query, signal);
      return { status: 200, body: found.scores.map(toRead) };
    },
  });
}

const Params = Type.Object({ feedback_id: uuid('Id of the feedback.') });
const one = { tag: TAG, access: 'key', params: Params } as const;

function getRoute(scores: FeedbackParts['scores']) {
  return defineRoute({
    ...one,
    method: 'GET',
    path: `${BASE}/feedback/:feedback_id`,
    operationId: 'getLangsmithFeedback',
    scopes: ['scores:read'],
    summary: 'Get feedback (LangSmith)',
    description: 'Returns a score by the id that the client gave it, or by its own.',
    responses: { 200: { description: 'The feedback.', schema: FeedbackRead } },
    errors: ['not_found', 'unavailable'],
    async handle({ principal, params, signal }) {
      return { status: 200, body: toRead(await find(scores, principal.project_id, params.feedback_id, signal)) };
    },
  });
}

function patchRoute(scores: FeedbackParts['scores']) {
  return defineRoute({
    ...one,
    method: 'PATCH',
    path: `${BASE}/feedback/:feedback_id`,
    operationId: 'updateLangsmithFeedback',
    scopes: ['scores:read', 'scores:write'],
    summary: 'Change feedback (LangSmith)',
    description: 'Changes a score; absent fields stay.',
    body: jsonBody(FeedbackPatch, { lenient: true }),
    responses: { 200: { description: 'The feedback.', schema: FeedbackRead } },
    errors: ['not_found', 'invalid', 'overloaded', 'unavailable'],
    async handle({ principal, params, body, signal }) {
      const found = await find(scores, principal.project_id, params.feedback_id, signal);
      const { entity_type, entity_id, name, source, author, metadata } = found;
      const isSaid = body.score != null || (body.value != null && body.value !== '');
      const comment = body.comment ?? found.comment;
      const [stored] = await scores.post(principal, {
        ...{ entity_type, entity_id, name, source, author },
        value: isSaid ? valueOf(body) : found.value,
        ...(comment !== null && { comment }),
        metadata: { ...metadata, ...metadataOf(body) },
      });
      return { status: 200, body: toRead(stored ?? found) };
    },
  });
}

function deleteRoute(scores: FeedbackParts['scores']) {
  return defineRoute({
    ...one,
    method: 'DELETE',
    path: `${BASE}/feedback/:feedback_id`,
    operationId: 'deleteLangsmithFeedback',
    scopes: ['admin'],
    summary: 'Delete feedback (LangSmith)',
    description: 'Deletes a score.',
    responses: { 204: { description: 'The feedback is deleted.' } },
    errors: ['not_found', 'unavailable'],
    async handle({ principal, params, signal }) {
      const { id } = await find(scores, principal.project_id, params.feedback_id, signal);
      await scores.remove(principal, id);
      return { status: 204 };
    },
  });
}

/** The score whose author is the id, as clients choose it, else the one that has it. */
async function find(
  scores: FeedbackParts['scores'],
  projectId: string,
  id: string,
  signal: AbortSignal,
): Promise<StoredScore> {
  const { scores: found } = await scores.list(projectId, { ...ANY_SCORES, authors: [id] }, signal);
  return found[0] ?? scores.get(projectId, id, signal);
}

function toRead({ id, author, entity_type, entity_id, name, value, comment, metadata, ...score }: StoredScore) {
  const at = formatTimestamp(score.created_at);
  const source = asObject(metadata['source']);
  const extra = asObject(metadata['extra']);
  return {
    ...{ id: UUID.test(author) ? author : id, created_at: at, modified_at: at },
    run_id: entity_type === 'span' ? entity_id : null,
    trace_id: entity_type === 'trace' ? entity_id : null,
    ...{ session_id: null, key: name, comment, correction: metadata['correction'] ?? null },
    score: typeof value === 'string' ? null : value,
    value: typeof value === 'string' ? value : (metadata['value'] ?? null),
    feedback_source: { type: TYPE_OF[score.source], metadata: { ...source } },
    extra: extra === undefined ? null : { ...extra },
  };
}
